#!/usr/bin/env bash
# What predictors without training reach, on tasks, on one's own sequences and in a suite; bad arguments are refused.
. "$(dirname "$0")/lib.sh"
small=(--dim 4 --steps 6 --train-size 20 --val-size 10)

expect_exit 0 "$edelta" baselines near-pi "${small[@]}"
[ "$(grep -cE 'e[+-][0-9]+$' "$work/stdout")" = 5 ] || { cat "$work/stdout"; fail "not five losses"; }
expect_exit 0 "$edelta" baselines near-pi "${small[@]}" --json
cp "$work/stdout" "$work/task"
"$edelta" data near-pi --dim 4 --steps 6 --train 20 --val 10 --out "$work/data" >/dev/null
expect_exit 0 "$edelta" baselines --data "$work/data" --json
cmp "$work/stdout" "$work/task" || fail "the same sequences, other losses"

expect_exit 0 "$edelta" reproduce baselines --preset smoke --out "$work/suite"
expect_exit 0 "$edelta" reproduce baselines --preset smoke --out "$work/suite" --dry-run --json
[ "$(grep -c '"status": "done"' "$work/stdout")" = 5 ] || fail "not all tasks are done"
grep -q 'linear map of the input' "$work/suite/report.md" || fail "not on the page"

refuse() { # TEXT ARGUMENTS...: one line that has TEXT
  local text=$1
  shift
  expect_exit 2 timeout 60 "$edelta" baselines "$@"; one_line "$text"
}
refuse "either a task"
refuse "either a task" near-pi --data "$work/data"
refuse "dim is a setting of tasks" --data "$work/data" --dim 4
refuse "did you mean 'stability'" stabilty
refuse "has no option" stability --theta 1
refuse "$work/nothing" --data "$work/nothing"
seq 2000 >"$work/numbers.txt"
"$edelta" text "$work/numbers.txt" --out "$work/tokens" >/dev/null 2>&1
refuse "text" --data "$work/tokens"
echo "baselines are measured"
