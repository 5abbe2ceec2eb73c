#!/usr/bin/env bash
# The comparison of mixers on puzzles: its table, its grids, and what is left to do.
. "$(dirname "$0")/lib.sh"
cd "$work"
table=puzzles-sudoku4-matched
expect_exit 0 "$edelta" reproduce puzzles --preset quick --seeds 1 --dry-run --json --out suite
[ "$(grep -c '"step": "\(sudoku\|maze\)' stdout)" = 30 ] || fail "not ten models on three kinds of puzzles"
[ ! -e suite ] || fail "a dry run left a folder"
expect_exit 0 "$edelta" reproduce $table --preset smoke --out suite
for model in none jpmhc 'edelta, published start' edelta 'edelta, no operator'; do
  grep -q "^| $model | [0-9.]* |" suite/report.md || fail "$model is not in the table"
  grep -q "^Sudoku 4×4, matched, $model:" suite/report.md || fail "$model solves nothing"
done
grep -q 'puzzle  *step 1 ([0-9]* %)  *step 2 ([0-9]* %)  *expected' suite/report.md || fail "no grids"
grep -q 'In this run: Sudoku 4×4 (20 puzzles' suite/report.md || fail "what was run"
grep -q '^| none | 6,829,058 |' suite/report.md || fail "the published sizes"
# At one number of parameters: within a tenth of the first.
sed -n '/^\*\*Sudoku 4×4, matched/,$p' suite/report.md | awk -F '|' '
  /^\| (none|jpmhc|edelta)/ { n = $(NF - 1); gsub(/[ ,]/, "", n); if (!first) first = n; rows++
    if (n > 1.1 * first || n < 0.9 * first) { print; bad = 1 } }
  END { exit bad || rows != 5 }' || fail "the sizes differ"
expect_exit 0 "$edelta" reproduce $table --preset smoke --out suite --dry-run
! grep -q 'to do' stdout || fail "what is done is to be done again"
echo "mixers are compared on puzzles"
