#!/usr/bin/env bash
# A suite that is killed with all its children and called again ends with the same tables as one that was left
# alone; bad input is refused.
. "$(dirname "$0")/lib.sh"
subset=(configs gate-init-single norms)
untimed_results() { grep -v '"seconds"' "$1/results.json"; }

expect_exit 2 "$edelta" reproduce mian --out "$work/x"
grep -q "near-pi" "$work/stderr" || fail "the known names are not listed"
expect_exit 2 "$edelta" reproduce main --preset slow --out "$work/x"
expect_exit 2 "$edelta" reproduce main --jobs 0 --out "$work/x"
expect_exit 2 "$edelta" reflect --operators rnn
expect_exit 0 "$edelta" reproduce all --preset paper --dry-run --out "$work/x"
grep -q "gyroscope-edelta-seed456 *to do" "$work/stdout" || fail "a run is not listed"
expect_exit 0 "$edelta" reproduce main --preset paper --dry-run --out "$work/x" --only 'gyroscope-gpt-*' --only '*-mhc-seed42'
[ "$(grep -c ' to do' "$work/stdout")" = 5 ] || { cat "$work/stdout"; fail "--only lists other steps"; }
expect_exit 2 "$edelta" reproduce main --preset smoke --out "$work/x" --only gyroscope
grep -q -- "--only gyroscope: none of the 10 steps" "$work/stderr" || { cat "$work/stderr"; fail "not said what is wrong with --only"; }
expect_exit 2 "$edelta" reproduce --preset smoke --out "$work/x" --only 'stability-gpt-*' --text "$0"
one_line "--text is for the experiment language"
[ ! -e "$work/x" ] || fail "a dry run or bad input left a folder"

# A part of a suite, and later the rest.
expect_exit 0 "$edelta" reproduce "${subset[@]}" --preset smoke --out "$work/whole" --only 'norms-stability-jp*' --only configs
[ "$(ls "$work/whole/runs")" = stability-jpmhc-seed42 ] || { ls "$work/whole/runs"; fail "--only ran other steps"; }
[ -s "$work/whole/measurements/norms-stability-jpmhc-seed42.json" ] || fail "--only left out a measurement"

expect_exit 0 "$edelta" reproduce "${subset[@]}" --preset smoke --out "$work/whole"
[ -s "$work/whole/report.html" ] || fail "no report"
expect_exit 2 "$edelta" reproduce main --preset quick --out "$work/whole"

# What is kept of it for others goes on where it was: nothing is left to do, and the page is made again.
"$(dirname "$0")/../../scripts/keep-results" "$work/whole" "$work/kept"
expect_exit 0 "$edelta" reproduce "${subset[@]}" --preset smoke --out "$work/kept" --dry-run
! grep -q "to do" "$work/stdout" || { cat "$work/stdout"; fail "what was kept is to be done again"; }
rm "$work/kept/results.json"
expect_exit 0 "$edelta" report "$work/kept"
cmp "$work/whole/results.json" "$work/kept/results.json" || fail "what was kept gives another page"

# Kill the runner and everything that it started, at a random moment; call it again.
RANDOM=${EDELTA_TEST_SEED:-$$}
setsid "$edelta" reproduce "${subset[@]}" --preset smoke --out "$work/killed" >/dev/null 2>&1 &
pid=$!
sleep "$((RANDOM % 6 + 1)).$((RANDOM % 10))"
kill -KILL -- "-$pid" 2>/dev/null || true
wait $pid 2>/dev/null || true
finished=$(find "$work/killed" -name result.json 2>/dev/null | wc -l)
echo "killed after $finished finished runs"

# Kill the runner alone: its children save and end, and the next call waits for them.
"$edelta" reproduce "${subset[@]}" --preset smoke --out "$work/killed" >/dev/null 2>&1 &
pid=$!
sleep 2
kill -KILL $pid 2>/dev/null || true
wait $pid 2>/dev/null || true

# Ask one that has everything before it to stop: it says how to continue. The suite's own file says that it hears signals;
# one that comes before the program does would end this script's own copy, which removes $work on its way.
"$edelta" reproduce "${subset[@]}" --preset smoke --out "$work/stopped" >/dev/null 2>"$work/progress" &
pid=$!
for _ in $(seq 600); do [ -e "$work/stopped/suite.json" ] && break; sleep 0.05; done
kill -TERM $pid 2>/dev/null || true
code=0
wait $pid || code=$?
[ "$code" = 143 ] || { cat "$work/progress"; fail "exit $code on SIGTERM"; }
grep -q "continue with: .*edelta reproduce" "$work/progress" || { cat "$work/progress"; fail "no word on how to continue"; }

expect_exit 0 "$edelta" reproduce "${subset[@]}" --preset smoke --out "$work/killed"
cmp <(untimed_results "$work/whole") <(untimed_results "$work/killed") || fail "the tables differ"

# A run that fails is reported; the rest goes on.
run=$(ls -d "$work/killed/runs/"*gpt*)
rm "$run/result.json"
printf 'x' | dd of="$run/checkpoint/checkpoint.safetensors" bs=1 seek=20000 conv=notrunc 2>/dev/null
expect_exit 1 "$edelta" reproduce "${subset[@]}" causal-stability --preset smoke --out "$work/killed"
grep -q "gpt.*failed: .*checksum" "$work/stderr" || { cat "$work/stderr"; fail "the failure is not reported"; }
[ -f "$work/killed/runs/stability-edelta-pool=prefix-seed42/result.json" ] || fail "the rest did not go on"

echo "an interrupted suite ends like one that was left alone"
