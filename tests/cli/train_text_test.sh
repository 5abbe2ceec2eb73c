#!/usr/bin/env bash
# Training on tokens: killed and resumed it ends the same, a loss is what eval says, and what cannot be trained on is
# refused in one line before anything is written.
. "$(dirname "$0")/lib.sh"

# 3000 tokens of a text that can be learnt, as 16-bit numbers: a folder as nanoGPT writes it.
folder="$work/text"
mkdir "$folder"
for _ in $(seq 300); do printf 'a\0b\0c\0a\0b\0d\0c\0b\0a\0d\0'; done >"$folder/train.bin"
head -c 400 "$folder/train.bin" >"$folder/val.bin"

# number KEY FILE: its value in a JSON file.
number() { sed -n "s/^ *\"$1\": *\([-+.0-9e]*\),*$/\1/p" "$2"; }

small=(--data "$folder" --vocab 128 --layers 2 --width 32 --block 16 --iterations 60 --batch 4 --eval-interval 20
  --log-interval 5 --checkpoint-interval 7)
expect_exit 2 "$edelta" train --model gpt --data "$folder" --out "$work/x"
one_line "--vocab"
expect_exit 2 "$edelta" train --model edelta "${small[@]}" --pool sequence --out "$work/x"
one_line "it must be prefix or token"
expect_exit 2 "$edelta" train --model gpt --data "$folder" --vocab 128 --block 3000 --out "$work/x"
one_line "needs 3001"
expect_exit 2 "$edelta" train --model gpt --data "$folder" --vocab 100 --block 16 --out "$work/x"
one_line "train.bin"
expect_exit 2 "$edelta" train --model gpt --task gyroscope --preset chars --out "$work/x"
one_line "sequences of vectors"
expect_exit 2 "$edelta" train --model gpt --task gyroscope --preset smoke --vocab 7 --out "$work/x"
one_line "--vocab"
[ ! -e "$work/x" ] || fail "a refused run left a folder"

for model in gpt ddl mhc jpmhc edelta edelta-stream; do
  expect_exit 0 "$edelta" train --model "$model" "${small[@]}" --out "$work/$model" --json
  "$edelta" eval "$work/$model" --weights last --json >"$work/eval.json"
  awk -v first="$(number initial_val_loss "$work/stdout")" -v last="$(number final_val_loss "$work/stdout")" \
    -v loss="$(number loss "$work/eval.json")" -v tokens="$(number tokens "$work/eval.json")" \
    -v perplexity="$(number perplexity "$work/eval.json")" 'function near(a, b) { return (a - b) ^ 2 <= 1e-10 * b * b }
      BEGIN { exit !(tokens == 200 && near(loss, last) && near(perplexity, exp(loss)) && last < 0.9 * first) }' ||
    { cat "$work/stdout" "$work/eval.json"; fail "$model: the result is not what eval says, or it learnt nothing"; }
done
expect_exit 2 "$edelta" predict "$work/gpt" --input x.npy --out "$work/y.npy"
one_line "text"
expect_exit 2 "$edelta" norms "$work/gpt"
one_line "text"
expect_exit 0 "$edelta" inspect "$work/edelta"

settings=(--model edelta "${small[@]}" --dropout 0.1 --accumulate 2)
"$edelta" train "${settings[@]}" --out "$work/whole" >/dev/null 2>&1
for kill in 1 2 3; do
  if [ -f "$work/killed/config.json" ]; then
    "$edelta" train --resume "$work/killed" >/dev/null 2>&1 &
  else
    "$edelta" train "${settings[@]}" --out "$work/killed" >/dev/null 2>&1 &
  fi
  sleep "0.$((RANDOM % 8 + 1))"
  kill -KILL $! 2>/dev/null || true
  wait $! 2>/dev/null || true
done
if [ -f "$work/killed/config.json" ]; then
  "$edelta" train --resume "$work/killed" >/dev/null 2>&1
else
  "$edelta" train "${settings[@]}" --out "$work/killed" >/dev/null 2>&1
fi
same_run "$work/whole" "$work/killed"

# Other text than the run's is noticed.
printf 'a\0' >>"$folder/train.bin"
expect_exit 2 "$edelta" eval "$work/gpt"
one_line "train.bin is not what the run was trained on"
echo "models of text are trained, resumed and evaluated"
