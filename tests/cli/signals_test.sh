#!/usr/bin/env bash
# A run can always be stopped: by Ctrl-C, twice if it must be at once, by SIGTERM and by a closed terminal.
. "$(dirname "$0")/lib.sh"
start() { # NAME ARGUMENTS...: a long run in the background, once it computes
  local out=$work/$1
  shift
  env --default-signal=INT,HUP "$edelta" train --model gpt --task stability --dim 4 --steps 6 --width 8 --layers 1 \
    --batch 4 --iterations 1000000 --log-interval 1 "$@" --out "$out" --quiet >/dev/null 2>&1 &
  for wait in $(seq 600); do [ -s "$out/metrics.jsonl" ] || sleep 0.02; done
}
ends_with() { local code=0; wait $! || code=$?; [ "$code" = "$1" ] || fail "exit $code instead of $1"; }

start hup; kill -HUP $!; ends_with 129
[ -f "$work/hup/checkpoint/checkpoint.safetensors" ] || fail "nothing was saved"

# Between the batches of one endless step: stopped, and saved as it was before the step.
start parts --accumulate 100000000; sleep 0.3; kill -INT $!; ends_with 130
[ -f "$work/parts/checkpoint/checkpoint.safetensors" ] || fail "nothing was saved"

# nohup's word counts.
env --ignore-signal=HUP "$edelta" train --model gpt --task stability --dim 4 --steps 6 --width 8 --layers 1 --batch 4 \
  --iterations 1000000 --log-interval 1 --out "$work/nohup" --quiet >/dev/null 2>&1 &
for wait in $(seq 600); do [ -s "$work/nohup/metrics.jsonl" ] || sleep 0.02; done
kill -HUP $!; sleep 0.3; kill -0 $! || fail "stopped although it was told to go on"
kill -TERM $!; ends_with 143

# A second signal does not wait for a batch that takes minutes.
"$edelta" train --model gpt --task gyroscope --width 512 --layers 12 --batch 16 --train-size 16 --val-size 1 --threads 1 \
  --impl composite --out "$work/slow" --quiet >/dev/null 2>&1 &
for wait in $(seq 600); do [ -s "$work/slow/metrics.jsonl" ] || sleep 0.1; done
kill -TERM $!; sleep 0.2; kill -TERM $!
for wait in $(seq 50); do kill -0 $! 2>/dev/null || break; sleep 0.1; done
kill -0 $! 2>/dev/null && { kill -KILL $!; fail "the second signal was not obeyed"; }
ends_with 143

# More threads than any machine has.
OMP_NUM_THREADS=100000 timeout 60 "$edelta" verify --samples 2 --n 2 >/dev/null || fail "100000 threads"
echo "runs can be stopped"
