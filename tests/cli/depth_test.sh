#!/usr/bin/env bash
# The depth probe looks at what it is asked for, before and after a training; bad arguments are refused.
. "$(dirname "$0")/lib.sh"
small=(--preset smoke --width 16 --steps 6 --train-size 8 --val-size 4)

expect_exit 0 "$edelta" depth --layers 2,5 "${small[@]}"
[ "$(grep -cE '^(gpt|ddl|mhc|jpmhc|edelta|edelta-stream) +[25] ' "$work/stdout")" = 12 ] || fail "not all are there"
! grep -q "After" "$work/stdout" || fail "trained without being asked"
expect_exit 0 "$edelta" depth --models gpt,edelta --branch cayley --layers 3 --iterations 4 "${small[@]}"
grep -q "After 4 iterations" "$work/stdout" || fail "not trained"
expect_exit 0 "$edelta" depth --models edelta --layers 3 --iterations 4 --task gyroscope "${small[@]}" --json
cp "$work/stdout" "$work/once"
for word in '"signal"' '"gradient"' '"token_cosine"' '"stream_cosine"' '"orthogonality_error"' '"trained"'; do
  grep -q "$word" "$work/once" || fail "no $word"
done
expect_exit 0 "$edelta" depth --models edelta --layers 3 --iterations 4 --task gyroscope "${small[@]}" --json
cmp "$work/stdout" "$work/once" || fail "not the same again"

refuse() { # TEXT ARGUMENTS...: one line that has TEXT
  local text=$1
  shift
  expect_exit 2 timeout 60 "$edelta" depth "${small[@]}" "$@"; one_line "$text"
}
refuse "did you mean 'edelta'" --models edlta
refuse "--branch" --models gpt,mhc --branch cayley
refuse "branch" --models edelta --branch caley
refuse "--layers" --layers 0
refuse "--layers" --layers six
refuse "--iterations" --iterations -1
refuse "--sequences" --sequences 0
refuse "seed" --seed -1
refuse "did you mean 'reversal'" --task reversl
refuse "heads" --heads 3
expect_exit 2 "$edelta" depth --preset slow; one_line "preset is 'slow'"
expect_exit 2 "$edelta" depth --layers 10000 --width 4096; one_line GiB
echo "signal and gradient are followed through the layers"
