#!/usr/bin/env bash
# From a text to generated text: text, train, generate, export. The tokenizer goes with the run and with the exported file;
# bad input gets one line.
. "$(dirname "$0")/lib.sh"
for _ in $(seq 400); do printf 'the cat sat on the mat. ça va\n'; done >"$work/book.txt"

# One learns its text; that the others say the same in every way needs no skill.
for tokenizer in bytes chars bpe; do
  iterations=20
  [ "$tokenizer" != chars ] || iterations=400
  expect_exit 0 "$edelta" text "$work/book.txt" --tokenizer "$tokenizer" --out "$work/$tokenizer"
  expect_exit 0 "$edelta" train --model edelta --data "$work/$tokenizer" --layers 2 --width 64 --block 64 --batch 16 --lr 5e-3 \
    --iterations $iterations --eval-interval 400 --out "$work/run-$tokenizer"
  expect_exit 0 "$edelta" generate "$work/run-$tokenizer" --prompt 'the cat' --tokens 40 --temperature 0
  cp "$work/stdout" "$work/greedy"
  [ "$tokenizer" != chars ] || grep -q '^ sat on the mat' "$work/greedy" || { cat "$work/greedy"; fail "$tokenizer: it has not learnt its text"; }
  iconv -f UTF-8 -t UTF-8 "$work/greedy" >/dev/null || fail "$tokenizer: half a character was printed"

  # The exported file and the uncached way give the same.
  expect_exit 0 "$edelta" export "$work/run-$tokenizer" --out "$work/$tokenizer.safetensors"
  expect_exit 0 "$edelta" generate "$work/$tokenizer.safetensors" --prompt 'the cat' --tokens 40 --temperature 0
  cmp "$work/greedy" "$work/stdout" || fail "$tokenizer: the exported model says something else"
  expect_exit 0 "$edelta" generate "$work/run-$tokenizer" --prompt 'the cat' --tokens 40 --temperature 0 --impl composite
  cmp "$work/greedy" "$work/stdout" || fail "$tokenizer: without a state it says something else"
done

run="$work/run-chars"
# A folder that a model was exported into is as good as the file; a folder is no file to write.
mkdir "$work/exported"
cp "$work/chars.safetensors" "$work/exported/model.safetensors"
"$edelta" generate "$work/chars.safetensors" --prompt the --tokens 20 --temperature 0 >"$work/greedy" 2>/dev/null
expect_exit 0 "$edelta" generate "$work/exported" --prompt the --tokens 20 --temperature 0
cmp "$work/greedy" "$work/stdout" || fail "the folder says something else than the file in it"
expect_exit 2 "$edelta" inspect "$work/chars.safetensors"; one_line "that is a file"
expect_exit 2 "$edelta" export "$run" --out "$work/exported" --force; one_line "is a folder"
expect_exit 2 "$edelta" export "$run" --out -; one_line "no file"
# Lists of runs tell bits per byte.
expect_exit 0 "$edelta" runs "$work" --sort bits
grep -q "bits/byte (last)" "$work/stdout" || { cat "$work/stdout"; fail "no bits per byte"; }
expect_exit 0 "$edelta" compare "$run" "$work/run-bpe" --json
[ "$(grep -c '"bits_per_byte"' "$work/stdout")" = 2 ] || fail "compare without bits per byte"
# The same seed draws the same, from wherever the prompt comes.
printf 'the' >"$work/prompt"
expect_exit 0 "$edelta" generate "$run" --prompt the --tokens 60 --seed 7 --top-k 5 --top-p 0.9 --min-p 0.01 --repetition-penalty 1.1
cp "$work/stdout" "$work/drawn"
expect_exit 0 "$edelta" generate "$run" --prompt-file "$work/prompt" --tokens 60 --seed 7 --top-k 5 --top-p 0.9 --min-p 0.01 \
  --repetition-penalty 1.1
cmp "$work/drawn" "$work/stdout" || fail "the same seed drew something else"
"$edelta" generate "$run" - --tokens 60 --seed 7 --top-k 5 --top-p 0.9 --min-p 0.01 --repetition-penalty 1.1 \
  <"$work/prompt" >"$work/stdin" 2>/dev/null
cmp "$work/drawn" "$work/stdin" || fail "standard input gave something else"
expect_exit 0 "$edelta" generate "$run" --prompt 'the cat' --tokens 200 --temperature 0 --stop 'mat'
grep -q 'on the' "$work/stdout" || fail "nothing before the stop"
! grep -q 'mat' "$work/stdout" || fail "the stop text was shown"
expect_exit 0 "$edelta" generate "$run" --prompt the --tokens 5 --samples 3 --json
grep -q '"text"' "$work/stdout" || fail "no text in the JSON"

# It ends with its reader, and says when nothing can be written.
(set +e; timeout 60 "$edelta" generate "$run" --prompt the --tokens 1000000000 2>"$work/stderr"; echo $? >"$work/code") | head -c 20 >/dev/null
[ "$(cat "$work/code")" = 141 ] || { cat "$work/stderr"; fail "exit $(cat "$work/code") when its reader had gone"; }
code=0
timeout 60 "$edelta" generate "$run" --prompt the --tokens 1000000000 >/dev/full 2>"$work/stderr" || code=$?
[ "$code" = 1 ] || fail "exit $code on a full disk"
one_line "No space left on device"

expect_exit 2 "$edelta" generate "$run" --prompt 'XYZ'
one_line "prompt"
expect_exit 2 "$edelta" generate "$run" --prompt $'\xff'
expect_exit 2 "$edelta" generate "$run" --temperature -1
expect_exit 2 "$edelta" generate "$work/nowhere"
one_line "nowhere"
expect_exit 0 "$edelta" train --model gpt --task stability --preset smoke --iterations 1 --out "$work/vectors"
expect_exit 2 "$edelta" generate "$work/vectors"
one_line "vectors"
# Other tokens of the same number mean something else; a run does not go where its data is.
sed 's/v/w/' "$work/book.txt" >"$work/other.txt"
expect_exit 0 "$edelta" text "$work/other.txt" --tokenizer chars --out "$work/other"
expect_exit 2 "$edelta" eval "$run" --data "$work/other"
one_line "another tokenizer"
expect_exit 2 "$edelta" train --model gpt --data "$work/chars" --iterations 1 --out "$work/chars" --force
one_line "folder of the data"
cmp "$work/chars/tokenizer.json" "$run/tokenizer.json" || fail "the data was changed"
printf '{"a":1}' >"$run/tokenizer.json"
expect_exit 2 "$edelta" generate "$run" --prompt the
one_line "tokenizer.json"
echo "models of text go on with a prompt"
