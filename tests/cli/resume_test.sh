#!/usr/bin/env bash
# A run that is killed again and again, at any moment, ends like one that was left alone; so does one
# that was asked to stop.
. "$(dirname "$0")/lib.sh"
common=(--model edelta --task gyroscope --preset smoke --checkpoint-interval 7 --eval-interval 20
  --log-interval 5 --dropout 0.1 --accumulate 2)
settings=("${common[@]}" --iterations 120)

"$edelta" train "${settings[@]}" --out "$work/whole" 2>/dev/null
"$edelta" train "${settings[@]}" --out "$work/again" 2>/dev/null
same_run "$work/whole" "$work/again"

# Blocks that are computed again in the backward pass change nothing.
"$edelta" train "${settings[@]}" --recompute true --out "$work/recomputed" 2>/dev/null
same_training "$work/whole" "$work/recomputed"
expect_exit 2 "$edelta" train --model trm --preset sudoku4 --recompute true --out "$work/puzzles"
one_line "recompute is of transformers"

RANDOM=${EDELTA_TEST_SEED:-$$}
start_or_resume() {
  if [ -f "$work/killed/config.json" ]; then
    exec "$edelta" train --resume "$work/killed"
  else
    exec "$edelta" train "${settings[@]}" --out "$work/killed"
  fi
}
for kill in 1 2 3 4 5; do
  (start_or_resume) >/dev/null 2>&1 &
  sleep "0.$((RANDOM % 8 + 1))"
  kill -KILL $! 2>/dev/null || true
  wait $! 2>/dev/null || true
done
(start_or_resume) >/dev/null 2>&1
same_run "$work/whole" "$work/killed"

for signal in INT:130 TERM:143; do
  name=${signal%:*}
  # A script's background job ignores SIGINT from the start, unless it is told not to.
  env --default-signal=INT "$edelta" train "${common[@]}" --iterations 100000 --out "$work/$name" \
    >/dev/null 2>"$work/stderr" &
  for wait in $(seq 300); do [ -f "$work/$name/checkpoint/checkpoint.safetensors" ] || sleep 0.1; done
  kill "-$name" $! || fail "the run ended too early"
  code=0
  wait $! || code=$?
  [ "$code" = "${signal#*:}" ] || fail "exit $code instead of ${signal#*:}"
  grep -q "edelta train --resume" "$work/stderr" || fail "no word on how to resume"
done
echo "interrupted runs are resumed exactly"
