#!/usr/bin/env bash
# Nothing is overwritten without --force; what several write at once is one of theirs, whole.
. "$(dirname "$0")/lib.sh"
data=("$edelta" data stability --dim 4 --steps 6 --train 20 --val 10)
"${data[@]}" --out "$work/data" >/dev/null
sum() { cat "$1"/*.npy | sha256sum; }
before=$(sum "$work/data")
expect_exit 2 "${data[@]}" --seed 2 --out "$work/data"; one_line "--force"
[ "$(sum "$work/data")" = "$before" ] || fail "overwritten"
expect_exit 0 "${data[@]}" --seed 2 --out "$work/data" --force
[ "$(sum "$work/data")" != "$before" ] || fail "not replaced"
touch "$work/data/notes.txt"
expect_exit 2 "${data[@]}" --out "$work/data" --force; one_line notes.txt
rm "$work/data/notes.txt"

# Five at once.
declare -A whole
for seed in 1 2 3 4 5; do
  "${data[@]}" --seed "$seed" --out "$work/alone$seed" >/dev/null
  whole[$(sum "$work/alone$seed")]=1
done
for round in 1 2 3; do
  for seed in 1 2 3 4 5; do "${data[@]}" --seed "$seed" --out "$work/shared" --force >/dev/null 2>&1 & done
  wait
  [ -n "${whole[$(sum "$work/shared")]:-}" ] || fail "x of one and y of another"
done
[ "$(ls -A "$work" | grep -c tmp)" = 0 ] || fail "a temporary folder is left"

# One that is killed leaves nothing behind at its next run.
"$edelta" data gyroscope --train 20000 --out "$work/killed" >/dev/null 2>&1 &
for wait in $(seq 1000); do ls -A "$work" | grep -q '^killed.*tmp' && break; sleep 0.01; done
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
"${data[@]}" --out "$work/killed" --force >/dev/null
[ "$(ls -A "$work" | grep -c tmp)" = 0 ] || fail "the killed one's temporary folder is left"

"$edelta" train --model gpt --width 8 --layers 1 --data "$work/data" --iterations 10 --out "$work/run" --quiet >/dev/null
expect_exit 0 "$edelta" export "$work/run" --out "$work/model"
expect_exit 2 "$edelta" export "$work/run" --out "$work/model"; one_line "--force"
expect_exit 0 "$edelta" export "$work/run" --out "$work/model" --force
echo '{}' >"$work/probe.json"
expect_exit 2 timeout 20 "$edelta" reflect --out "$work/probe.json"; one_line "--force"
expect_exit 2 timeout 20 "$edelta" reflect --out "$work/nowhere/probe.json"; one_line nowhere
echo "nothing is overwritten unasked"
