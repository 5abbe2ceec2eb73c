#!/usr/bin/env bash
# The list of runs: found, sorted, in whatever state; what cannot be read does not stop it.
. "$(dirname "$0")/lib.sh"
runs=$work/runs
train() { "$edelta" train --preset smoke --width 16 --iterations 20 --warmup 5 --eval-interval 10 "$@" >/dev/null 2>&1; }
names() { awk 'NR > 2 && $1 !~ /:$/ { print $1 }' "$work/stdout" | tr '\n' ' '; }

train --model gpt --task stability --out "$runs/b"
train --model ddl --task gyroscope --seed 7 --out "$runs/deep/er/a"
mkdir "$runs/deep/er/too"
cp -r "$runs/b" "$runs/deep/er/too/far"
cp -r "$runs/b" "$runs/going"
rm "$runs/going/result.json"
mkdir "$runs/broken" "$runs/empty"
echo '{"model": 3}' >"$runs/broken/config.json"

expect_exit 0 "$edelta" runs "$runs"
[ "$(names)" = "b deep/er/a going " ] || { cat "$work/stdout"; fail "the list is $(names)"; }
grep -q "^b .*gpt .*stability .*42 .*finished" "$work/stdout" || fail "b is not described"
grep -q "^deep/er/a .*ddl .*gyroscope .*7 .*finished" "$work/stdout" || fail "a is not described"
grep -q "^going .*stopped at 20/20" "$work/stdout" || fail "a stopped run is not told"
grep -q "^broken: .*model" "$work/stdout" || fail "no word on the broken one"
! grep -q "too/far" "$work/stdout" || fail "deeper than three"

# A process that trains holds a lock.
exec 9>"$runs/going/lock"
flock 9
echo "process 1234 on here" >&9
expect_exit 0 "$edelta" runs "$runs" --json
grep -q '"state": "running"' "$work/stdout" || fail "not running"
grep -q '"holder": "process 1234 on here"' "$work/stdout" || fail "not by whom"
grep -q '"error": ' "$work/stdout" || fail "no error in JSON"
exec 9>&-
expect_exit 0 "$edelta" runs "$runs" --json
! grep -q '"state": "running"' "$work/stdout" || fail "still running"

expect_exit 0 "$edelta" runs "$runs" --sort model
[ "$(names)" = "deep/er/a b going " ] || fail "by model: $(names)"
expect_exit 0 "$edelta" runs "$runs" --sort name --reverse
[ "$(names)" = "going deep/er/a b " ] || fail "reversed: $(names)"
touch -d 2001-01-01 "$runs/going/metrics.jsonl"
expect_exit 0 "$edelta" runs "$runs" --sort date
[[ $(names) == "going "* ]] || fail "by date: $(names)"
# Whatever has no such value comes last, in either direction.
for direction in "" --reverse; do
  expect_exit 0 "$edelta" runs "$runs" --sort final $direction
  [[ $(names) == *"going " ]] || fail "by final loss: $(names)"
done
expect_exit 2 "$edelta" runs "$runs" --sort colour
for key in name model data best final time date; do
  grep -q "$key" "$work/stderr" || fail "$key is not offered"
done
expect_exit 2 "$edelta" runs "$work/nowhere"
grep -q nowhere "$work/stderr" || fail "the folder is not named"
expect_exit 0 "$edelta" runs "$runs/empty"
expect_exit 0 "$edelta" runs "$runs/b"
[ "$(names)" = "b " ] || fail "a run itself: $(names)"
echo "runs are listed"
