#!/usr/bin/env bash
# Puzzles become folders in the published format, whole or not at all; bad input gets one line.
. "$(dirname "$0")/lib.sh"
cd "$work"
puzzles() { expect_exit 0 "$edelta" puzzles "$@"; }
value() { sed -n "s/.*\"$1\": \{0,1\}\([^,}]*\).*/\1/p" "$2" | head -1; }
numbers() { tail -c +129 "$1" | od -An -v -t"$2" | tr -s ' \n' ' '; } # after a header of 128 bytes

puzzles sudoku --size 4 --train 20 --test 5 --aug 2 --seed 3 --out s4
grep -q 'sudoku 4×4: 60 training and 5 test examples' stdout || { cat stdout; fail "the summary"; }
[ "$(cd s4 && find . -type f | sort | tr '\n' ' ')" = "./identifiers.json ./puzzles.json ./test/all__group_indices.npy \
./test/all__inputs.npy ./test/all__labels.npy ./test/all__puzzle_identifiers.npy ./test/all__puzzle_indices.npy \
./test/dataset.json ./train/all__group_indices.npy ./train/all__inputs.npy ./train/all__labels.npy \
./train/all__puzzle_identifiers.npy ./train/all__puzzle_indices.npy ./train/dataset.json " ] || fail "the files"
[ "$(value seq_len s4/train/dataset.json)" = 16 ] && [ "$(value vocab_size s4/train/dataset.json)" = 6 ] || fail "dataset.json"
[ "$(cat s4/identifiers.json)" = '["<blank>"]' ] || fail "identifiers.json"
[ "$(stat -c %s s4/train/all__inputs.npy)" = $((128 + 60 * 16)) ] || fail "the size of the inputs"
head -c 200 s4/train/all__inputs.npy | grep -aq "'descr': '|u1', 'fortran_order': False, 'shape': (60, 16)" || fail "the header"
[ "$(numbers s4/test/all__group_indices.npy d4)" = " 0 1 2 3 4 5 " ] || fail "the groups"
# Givens are in the labels too; blanks are 1.
paste <(numbers s4/train/all__inputs.npy u1 | tr ' ' '\n') <(numbers s4/train/all__labels.npy u1 | tr ' ' '\n') |
  awk 'NF == 2 && $1 != 1 && $1 != $2 {bad = 1} NF == 2 && ($2 < 2 || $2 > 5) {bad = 1} END {exit bad}' || fail "labels"

# The same options, the same bytes, with however many threads.
OMP_NUM_THREADS=2 puzzles sudoku --size 4 --train 20 --test 5 --aug 2 --seed 3 --out again
diff -r s4 again || fail "the same seed"

puzzles sudoku --size 4 --max-givens 4 --train 2 --test 2 --out s44 --json
grep -q '"mean_givens": 4' stdout && grep -q '"folder": "s44"' stdout || { cat stdout; fail "one bound takes the other along"; }
puzzles maze --size 9 --train 10 --test 4 --aug 7 --out maze
grep -q 'maze 9×9: 80 training and 4 test examples' stdout || { cat stdout; fail "the mazes"; }

# ARC: two subsets with a prefix.
mkdir arc
echo '{"a":{"train":[{"input":[[1,2]],"output":[[2],[1]]}],"test":[{"input":[[3,4]]}]}}' >arc/x_training_challenges.json
echo '{"a":[[[4],[3]]]}' >arc/x_training_solutions.json
echo '{"e":{"train":[{"input":[[1,2]],"output":[[2,1]]}],"test":[{"input":[[3,4]]}]}}' >arc/x_evaluation_challenges.json
echo '{"e":[[[4,3]]]}' >arc/x_evaluation_solutions.json
puzzles arc --from arc --subsets training,evaluation --aug 3 --out views
grep -q '2 tasks (1 tested), 12 training and 4 test examples of 8 views' stdout || { cat stdout; fail "arc"; }
[ "$(tr ',' '\n' <views/identifiers.json | wc -l)" = 9 ] && grep -q '"<blank>","a","a|||t' views/identifiers.json || fail "the names"
grep -q '"e":{"test":\[{"input":\[\[3,4\]\],"output":\[\[4,3\]\]}\]' views/test_puzzles.json || fail "the test puzzles"

# Two slices: one task that a mirror explains, one that changes colours only.
mkdir lite-files
echo '{"r":{"train":[{"input":[[1,1,2],[1,1,1]],"output":[[2,1,1],[1,1,1]]}],"test":[{"input":[[3]],"output":[[3]]}]},
"c":{"train":[{"input":[[1,1,2],[1,1,1]],"output":[[3,3,4],[3,3,3]]}],"test":[{"input":[[3]],"output":[[5]]}]}}' \
  >lite-files/evaluation_challenges.json
puzzles reflect-lite --from lite-files --subsets evaluation --sample drawn --aug 2 --out lite
grep -q 'of 2 tasks 1 reflect and 1 control candidates' stdout || { cat stdout; fail "reflect-lite"; }
grep -q '^{"reflect":\["evaluation/r"\],"control":\["evaluation/c"\]' lite/reflect_lite.json || fail "the list"
grep -q '"evaluation/r",1,0,0,0,1,"reflect"' lite/reflect_lite.json || fail "the records"
[ -f lite/reflect/train/all__inputs.npy ] && [ -f lite/control/test_puzzles.json ] || fail "two data sets"

refuse() { # TEXT ARGUMENTS...
  local text=$1
  shift
  expect_exit 2 "$edelta" puzzles "$@"; one_line "$text"
}
refuse "4, 6 or 9" sudoku --size 5 --out none
refuse "from 17 to 81" sudoku --min-givens 3 --out none
refuse "--loops is for maze, not sudoku" sudoku --loops 0.1 --out none
refuse "--size is for maze and sudoku, not arc" arc --from arc --size 9 --out none
refuse "a seed is a whole number" maze --seed -1 --out none
refuse "chess" chess --out none
refuse "--from is needed" arc --out none
refuse "there is no concept_challenges.json" arc --from arc --out none
refuse "the published reflect slice has" reflect-lite --from lite-files --subsets evaluation --out none
bad() { # TEXT JSON: challenges of the evaluation set
  echo "$2" >arc/x_evaluation_challenges.json
  refuse "$1" arc --from arc --subsets training,evaluation --out none
}
bad "x_evaluation_challenges.json" '{"e":'
bad 'task "e": train pair 1: input: row 2 has 1 cells, row 1 has 2' '{"e":{"train":[{"input":[[1,2],[1]],"output":[[1]]}],"test":[{"input":[[1]]}]}}'
rm arc/x_evaluation_solutions.json
bad "test pair 1: it has no solution" '{"e":{"train":[{"input":[[1]],"output":[[1]]}],"test":[{"input":[[1]]}]}}'
puzzles arc --from arc --subsets training,evaluation --unsolved --aug 0 --out unsolved
refuse "--force" maze --size 9 --out s4
touch s4/train/mine
refuse "mine" maze --size 9 --out s4 --force
[ -f s4/train/mine ] || fail "a file that is not ours is gone"
puzzles maze --size 5 --train 2 --test 2 --out s44 --force
[ "$(value seq_len s44/train/dataset.json)" = 25 ] || fail "not replaced"
[ -z "$(ls -d none* 2>/dev/null)" ] || fail "something is left of what was refused"

# Stopped, it leaves nothing behind.
"$edelta" puzzles sudoku --train 1000000 --out stopped &
for wait in $(seq 600); do ls | grep -q stopped && break || sleep 0.02; done
kill -INT $!; code=0; wait $! || code=$?
[ "$code" = 130 ] || fail "exit $code after an interrupt"
[ -z "$(ls -d stopped* 2>/dev/null)" ] || fail "left behind: $(ls -d stopped*)"
echo "puzzles become data"
