#!/usr/bin/env bash
# The comparison on text: every architecture and the control, their table and samples; the suite keeps its text.
. "$(dirname "$0")/lib.sh"
for i in $(seq 300); do printf '%d bottles of beer on the wall, ça va\n' "$i"; done >"$work/book.txt"
sed 's/beer/wine/' "$work/book.txt" >"$work/other.txt"

expect_exit 2 "$edelta" reproduce language --text "$work/nowhere" --out "$work/suite"
one_line "nowhere"
expect_exit 2 "$edelta" reproduce main --text "$work/book.txt" --out "$work/suite"
one_line "language"
expect_exit 0 "$edelta" reproduce language --preset smoke --text "$work/book.txt" --dry-run --out "$work/suite"
grep -q 'text-edelta-branch=none-seed42 *to do' "$work/stdout" || fail "the control is not planned"
printf 'caf\xe9 and bottles of beer\n' >"$work/latin.txt"
for out in "$work/suite" "$work/some/other/suite"; do
  expect_exit 2 "$edelta" reproduce language --preset smoke --text "$work/latin.txt" --out "$out"
  one_line "latin.txt"
done
[ ! -e "$work/suite" ] && [ ! -e "$work/some" ] || fail "something was written"

expect_exit 0 "$edelta" reproduce language --preset smoke --text "$work/book.txt" --out "$work/suite"
report="$work/suite/report.md"
for model in gpt ddl mhc jpmhc edelta edelta-stream 'jpmhc, no operator' 'edelta, no operator'; do
  grep -q "^| $model |" "$report" || fail "$model is not in the table"
  grep -q "^$model, sample 2:" "$report" || fail "$model has no second sample"
done
grep -q 'A verdict needs at least two seeds' "$report" || fail "one seed gave a verdict"
grep -q 'book.txt (0.0 MB, [0-9]* different characters)' "$report" || fail "the text is not named"
grep -q 'bits per byte' "$report" || fail "no bits per byte"

# Nothing is left to do, in another place too; another text is refused.
mv "$work/suite" "$work/moved"
expect_exit 0 "$edelta" reproduce language --preset smoke --out "$work/moved" --dry-run
! grep -q 'to do' "$work/stdout" || fail "what is done is to be done again"
expect_exit 0 "$edelta" reproduce language --preset smoke --text "$work/book.txt" --out "$work/moved"
cp "$work/moved/results.json" "$work/before"
expect_exit 2 "$edelta" reproduce language --preset smoke --text "$work/other.txt" --out "$work/moved"
one_line "another text"
cmp "$work/before" "$work/moved/results.json" || fail "results were changed"
echo "architectures are compared on a text"
