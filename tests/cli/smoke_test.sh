#!/usr/bin/env bash
# Every architecture learns the stability task with the smoke preset: ten times better than it began.
. "$(dirname "$0")/lib.sh"
value() { sed -n "s/.*\"$1\": \([-0-9.e+]*\),*/\1/p" "$work/result" | head -n 1; }
for model in gpt ddl mhc jpmhc edelta edelta-stream; do
  "$edelta" train --model $model --task stability --preset smoke --out "$work/$model" --json 2>/dev/null >"$work/result"
  echo "$model: $(value initial_val_loss) -> $(value best_val_loss) in $(value seconds) s"
  awk "BEGIN { exit !($(value best_val_loss) * 10 <= $(value initial_val_loss)) }" || fail "$model did not learn"
done
for command in eval inspect rollout; do
  expect_exit 0 "$edelta" "$command" "$work/edelta"
done
expect_exit 0 "$edelta" train --model edelta --task negation --preset smoke --iterations 30 --out "$work/negation"
