#!/usr/bin/env bash
# Evaluations and checkpoints by the hundred do not grow memory.
. "$(dirname "$0")/lib.sh"
"$edelta" train --model edelta --task stability --preset smoke --iterations 600 --eval-interval 2 --checkpoint-interval 2 \
  --log-interval 2 --out "$work/run" >/dev/null 2>&1 &
pid=$!

# resident_at ITERATION: megabytes of the run once it has come that far.
resident_at() {
  until tail -n 1 "$work/run/metrics.jsonl" 2>/dev/null | grep -o '"iteration":[0-9]*' | awk -F: "\$2 >= $1 { found = 1 } END { exit !found }"; do
    kill -0 $pid 2>/dev/null || fail "the run ended before iteration $1"
    sleep 0.05
  done
  awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$pid/status"
}
early=$(resident_at 100)
late=$(resident_at 500)
wait $pid
echo "resident after 50 evaluations and checkpoints: $early MB, after 250: $late MB"
[ $((late - early)) -le 4 ] || fail "memory grew by $((late - early)) MB over 200 evaluations and checkpoints"
