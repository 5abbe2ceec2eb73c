#!/usr/bin/env bash
# Predictions are those that eval measures, whatever way they come and go; bad input is named.
. "$(dirname "$0")/lib.sh"
# numbers FILE: the float32 values of a .npy file, one a line.
numbers() {
  local length
  length=$(od -An -tu2 -j8 -N2 "$1" | tr -d ' ')
  od -An -v -w4 -tf4 -j $((10 + length)) "$1"
}
# npy SHAPE ESCAPES: a .npy file of float32 bytes, on standard output.
npy() {
  local header
  header=$(printf "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" "$1")
  printf '\x93NUMPY\x01\x00'
  printf "\\x$(printf %02x $((${#header} + 1)))\\x00%s\n" "$header"
  printf "$2"
}
repeated() { for _ in $(seq "$1"); do printf '%s' "$2"; done; }
one='\x00\x00\x80\x3f' nan='\x00\x00\xc0\x7f'

"$edelta" data stability --dim 6 --steps 8 --train 40 --val 10 --out "$work/data" >/dev/null
"$edelta" train --model gpt --data "$work/data" --preset smoke --width 16 --iterations 30 --out "$work/run" >/dev/null 2>&1

x=$work/data/val_x.npy
expect_exit 0 "$edelta" predict "$work/run" --input "$x" --out "$work/y.npy" --json
grep -q '"file"' "$work/stdout" || fail "no JSON"
loss=$(paste <(numbers "$work/y.npy") <(numbers "$work/data/val_y.npy") |
  awk '{ sum += ($1 - $2) ^ 2 } END { print sum / NR }')
measured=$("$edelta" eval "$work/run" --json | sed -n 's/.*"loss": \([-0-9.e+]*\),*/\1/p')
awk "BEGIN { exit !($loss / $measured > 0.9999 && $loss / $measured < 1.0001) }" || fail "loss $loss, eval says $measured"

# Streams, other batches, an existing file.
"$edelta" predict "$work/run" --input - --out - <"$x" | cat >"$work/streamed.npy"
cmp "$work/y.npy" "$work/streamed.npy" || fail "streams give something else"
expect_exit 2 "$edelta" predict "$work/run" --input "$x" --out "$work/y.npy"; one_line --force
expect_exit 0 "$edelta" predict "$work/run" --input "$x" --out "$work/y.npy" --batch 3 --force --weights last
expect_exit 2 "$edelta" predict "$work/run" --input "$x" --out - --json; one_line --json

# Single vectors come back as such.
npy '(2, 6)' "$(repeated 12 "$one")" >"$work/vectors.npy"
expect_exit 0 "$edelta" predict "$work/run" --input "$work/vectors.npy" --out "$work/single.npy"
grep -qaF "'shape': (2, 6)" "$work/single.npy" || fail "another shape"
[ "$(numbers "$work/single.npy" | wc -l)" = 12 ] || fail "another size"

# What does not fit is named, and nothing is written.
refused() { # refused TEXT: the input is, with one line that contains TEXT
  expect_exit 2 "$edelta" predict "$work/run" --input "$work/bad.npy" --out "$work/none.npy"; one_line "$1"
  expect_exit 2 "$edelta" predict "$work/run" --input - --out "$work/none.npy" <"$work/bad.npy"; one_line "$1"
  [ ! -e "$work/none.npy" ] || fail "a refused input left a file"
}
npy '(2, 5)' "$(repeated 10 "$one")" >"$work/bad.npy"; refused "dim is 5"
npy '(1, 9, 6)' "$(repeated 54 "$one")" >"$work/bad.npy"; refused "T is 9"
npy '(1, 1, 6)' "$(repeated 5 "$one")$nan" >"$work/bad.npy"; refused "[0, 0, 5] is nan"
npy '(6,)' "$(repeated 6 "$one")" >"$work/bad.npy"; refused "[N, T, dim]"
npy '(3, 6)' "$(repeated 6 "$one")" >"$work/bad.npy"; refused "its shape needs 72 bytes"
echo text >"$work/bad.npy"; refused "is not a usable .npy file"
expect_exit 2 "$edelta" predict "$work/run" --input "$work/absent.npy" --out "$work/none.npy"; one_line absent.npy
expect_exit 2 "$edelta" predict "$work/nowhere" --input "$x" --out "$work/none.npy"; one_line config.json
expect_exit 2 "$edelta" predict "$work/run" --input "$x" --out "$work/absent/y.npy"; one_line absent
# Finite numbers that are too large for the model.
"$edelta" train --model edelta-stream --pool prefix --data "$work/data" --preset smoke --width 16 --iterations 5 --out "$work/geometric" >/dev/null 2>&1
npy '(1, 1, 6)' "$(repeated 6 '\x99\x76\x96\x7e')" >"$work/huge.npy"
expect_exit 1 "$edelta" predict "$work/geometric" --input "$work/huge.npy" --out "$work/none.npy"; one_line "not finite"
[ ! -e "$work/none.npy" ] || fail "what is not finite was written"
expect_exit 1 "$edelta" predict "$work/geometric" --input "$work/huge.npy" --out -; one_line "not finite"
[ ! -s "$work/stdout" ] || fail "what is not finite was printed"
echo "predictions are those that eval measures"
