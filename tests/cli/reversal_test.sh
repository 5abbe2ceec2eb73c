#!/usr/bin/env bash
# The task whose rule flips: its five strata are shown wherever losses are, and what cannot know a cue says so.
. "$(dirname "$0")/lib.sh"
strata=("sign" "reflection" "before" "at the flip" "after")
shows_strata() {
  for name in "${strata[@]}"; do grep -q "$name" "$1" || { cat "$1"; fail "no stratum $name"; }; done
}
small=(--model gpt --width 16 --layers 1 --preset smoke --iterations 20 --quiet)

expect_exit 0 "$edelta" train "${small[@]}" --task reversal --out "$work/run"
shows_strata "$work/stdout"
shows_strata "$work/run/result.json"
expect_exit 0 "$edelta" eval "$work/run"; shows_strata "$work/stdout"
expect_exit 0 "$edelta" eval "$work/run" --json; shows_strata "$work/stdout"
for command in inspect norms; do # gpt has no operators
  expect_exit "$([ $command = norms ] && echo 0 || echo 2)" "$edelta" $command "$work/run"
done
expect_exit 2 "$edelta" rollout "$work/run" --steps 3; one_line "predictions cannot be fed back"

# The same from a folder of its sequences.
expect_exit 0 "$edelta" data reversal --steps 16 --train-size 32 --val-size 16 --out "$work/data"
expect_exit 0 "$edelta" train "${small[@]}" --data "$work/data" --out "$work/from-data"
shows_strata "$work/stdout"
expect_exit 2 "$edelta" rollout "$work/from-data" --steps 3; one_line "predictions cannot be fed back"
expect_exit 0 "$edelta" predict "$work/from-data" --input "$work/data/val_x.npy" --out "$work/y.npy"

expect_exit 2 "$edelta" data reversal --dim 2 --out "$work/x"; one_line "dim"
expect_exit 2 "$edelta" data reversal --planes all --out "$work/x"; one_line "odd"
expect_exit 0 "$edelta" train --help; grep -q "at the flip" "$work/stdout" || fail "the strata are not explained"
echo "a flip is seen, and asked for where it cannot be"
