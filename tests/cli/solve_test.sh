#!/usr/bin/env bash
# A recursive model is trained, killed and continued, evaluated and used; bad puzzles get one line.
. "$(dirname "$0")/lib.sh"
cd "$work"
small=(--model trm --width 16 --heads 2 --width-multiple 8 --act-steps 2 --train-size 40 --val-size 10 --views 1
  --h-cycles 1 --l-cycles 1 --batch 8 --checkpoint-interval 5 --eval-interval 10 --log-interval 4 --quiet)
train() { expect_exit 0 "$edelta" train "${small[@]}" "$@"; }

train --preset sudoku4 --iterations 200 --out whole
grep -q 'of the puzzles solved' stdout || { cat stdout; fail "the result"; }
expect_exit 0 "$edelta" runs .
grep -q 'solved' stdout && grep -qE '^whole .*[0-9] %' stdout || { cat stdout; fail "the list has no share solved"; }
[ -f whole/puzzles/train/all__inputs.npy ] || fail "no puzzles in the run"

# Stopped while it makes its puzzles, it leaves nothing.
"$edelta" train --model trm --preset sudoku6 --train-size 1000000 --quiet --out unmade 2>stderr & making=$!
for wait in $(seq 3000); do ls -d unmade/puzzles*tmp >/dev/null 2>&1 && break || sleep 0.02; done
kill -TERM $making
status=0; wait $making || status=$?
[ $status = 143 ] && [ ! -s stderr ] && [ ! -e unmade ] || { cat stderr; ls -A unmade; fail "exit $status while puzzles are made"; }

# Killed again and again it ends like one that was left alone.
start_or_resume() {
  if [ -f killed/config.json ]; then exec "$edelta" train --resume killed --quiet; fi
  exec "$edelta" train "${small[@]}" --preset sudoku4 --iterations 200 --out killed
}
kill_once_there_is() { # FILE
  (start_or_resume) >/dev/null 2>&1 &
  for wait in $(seq 3000); do [ -f "$1" ] && break || sleep 0.02; done
  kill -KILL $! 2>/dev/null || true
  wait $! 2>/dev/null || true
}
# A machine may be so busy that the run ends before this script sees its checkpoint: then once more.
for attempt in $(seq 20); do
  rm -rf killed
  kill_once_there_is killed/config.json
  kill_once_there_is killed/checkpoint/checkpoint.safetensors
  [ -f killed/result.json ] || break
done
[ -f killed/checkpoint/checkpoint.safetensors ] && [ ! -f killed/result.json ] || fail "it was not killed in the middle"
(start_or_resume) >/dev/null 2>&1 || fail "it does not go on"
cmp whole/best/model.safetensors killed/best/model.safetensors || fail "the best weights"
cmp <(untimed_metrics whole) <(untimed_metrics killed) || fail "the metrics"
for run in whole killed; do
  expect_exit 0 "$edelta" eval $run --weights last --json
  grep -v '"run"' stdout >$run.last
done
cmp whole.last killed.last || fail "the last weights"

# A signal saves.
"$edelta" train "${small[@]}" --preset maze --size 7 --iterations 100000 --out stopped 2>stderr >/dev/null &
for wait in $(seq 300); do [ -f stopped/checkpoint/checkpoint.safetensors ] || sleep 0.1; done
kill -TERM $!; code=0; wait $! || code=$?
[ "$code" = 143 ] && grep -q "edelta train --resume stopped" stderr || { cat stderr; fail "exit $code"; }

# A folder of puzzles is recognised, mixers and the other kinds train.
expect_exit 0 "$edelta" puzzles sudoku --size 4 --train 20 --test 5 --out folder
for kind in "trm --mixer edelta" "hrm --h-layers 1" trm-hier6 "transformer --h-layers 1"; do
  expect_exit 0 "$edelta" train --model $kind --data folder --width 16 --heads 2 --streams 2 --width-multiple 8 --layers 1 \
    --h-cycles 1 --l-cycles 1 --puzzle-positions 1 --act-steps 2 --batch 4 --iterations 4 --out "kinds/${kind%% --h*}" --quiet
done
[ "$("$edelta" runs kinds --json | grep -c '"finished"')" = 4 ] || fail "not all kinds finished"
expect_exit 0 "$edelta" runs kinds; grep -q 'trm-hier6  *folder' stdout || { cat stdout; fail "runs"; }
expect_exit 0 "$edelta" compare whole killed --out page.html
grep -q sudoku4 page.html || fail "the page"

expect_exit 0 "$edelta" eval whole
grep -q '10 puzzles of the test split' stdout && grep -qE '^ +2 +[0-9.e+-]+ +[0-9.]+ % ' stdout || { cat stdout; fail "the table"; }
expect_exit 0 "$edelta" eval whole --split train --json
grep -q '"puzzles": 80' stdout && grep -q '"q_halt_accuracy"' stdout || { cat stdout; fail "eval as JSON"; }
expect_exit 0 "$edelta" eval whole --data folder
expect_exit 2 "$edelta" eval stopped --data folder; one_line "the puzzles have 16 cells; the model was trained on 49"
expect_exit 2 "$edelta" eval whole --submission s.json; one_line "goes with the test puzzles of ARC"

echo '1... ..21 .1.. 2..4' >puzzle
expect_exit 0 "$edelta" solve whole puzzle --steps
[ "$(grep -c 'after step' stdout)" = 2 ] && grep -qE '^(not valid: .*|valid by the rules)$' stdout || { cat stdout; fail "solve"; }
"$edelta" solve whole --json <puzzle >json
grep -q '"kind": "sudoku"' json && grep -q '"1..."' json && grep -qE '"valid": (true|false)' json || { cat json; fail "solve as JSON"; }
printf '#######\n#S....#\n#.###.#\n#.###.#\n#.###.#\n#....G#\n#######\n' | "$edelta" solve stopped >/dev/null || fail "a maze"

expect_exit 0 "$edelta" solve whole --test 2 --json
grep -q '"expected": \[' stdout || { cat stdout; fail "a test puzzle's answer"; }
expect_exit 0 "$edelta" solve whole --test 2
grep -q '^test puzzle 2:$' stdout && grep -q '^answer:$' stdout && [ "$(grep -cE '^[1-4.]( +[1-4.]){3}$' stdout)" = 8 ] ||
  { cat stdout; fail "a test puzzle and its answer"; }
expect_exit 2 "$edelta" solve whole --test 100000; one_line "there is no puzzle 100000"

refuse() { # TEXT PUZZLE
  printf '%s' "$2" >bad
  expect_exit 2 "$edelta" solve whole bad; one_line "bad: $1"
}
refuse "there is no puzzle" ""
refuse "'x' is not of a 4×4 Sudoku" "x.3. ..21 .1.. 2..4"
refuse "the givens contradict: row 1 has 1 twice" "1.31 ..2. .1.. 2..4"
printf '[[1,2' >bad
expect_exit 2 "$edelta" solve whole bad; one_line "bad is not valid JSON"
refuse "row 1 has 1 cells; a 4×4 Sudoku has 4" '[[1],[1,2]]'
expect_exit 2 "$edelta" solve nowhere puzzle; one_line "no run is there"
expect_exit 2 "$edelta" inspect whole; one_line "solves puzzles"
expect_exit 2 "$edelta" export whole --out x; one_line "solves puzzles"
[ ! -e x ] || fail "something is left of what was refused"

bad() { # TEXT ARGUMENTS...
  local text=$1
  shift
  expect_exit 2 "$edelta" train "$@" --out none; one_line "$text"
}
bad "the puzzles are missing" --model trm
bad "preset sudoku4 is for recursive models" --model gpt --preset sudoku4
bad "--dropout is for other than recursive models" --model trm --preset sudoku4 --dropout 0.1
bad "no data that could be trained on" --model trm --data "$work"
[ ! -e none ] || fail "a run is left of what was refused"
# ARC: the views of a task vote, and what they say becomes a submission.
mkdir arc
echo '{"e":{"train":[{"input":[[1,2]],"output":[[2,1]]}],"test":[{"input":[[3,4]]}]}}' >arc/x_evaluation_challenges.json
echo '{"e":[[[4,3]]]}' >arc/x_evaluation_solutions.json
expect_exit 0 "$edelta" puzzles arc --from arc --subsets evaluation --test-sets evaluation --aug 3 --out views
expect_exit 0 "$edelta" train --model trm --data views --width 16 --heads 2 --width-multiple 8 --layers 1 --act-steps 1 \
  --h-cycles 1 --l-cycles 1 --batch 2 --iterations 1 --out voted --quiet
expect_exit 0 "$edelta" eval voted --submission submission.json
grep -q '4 puzzles of the test split' stdout && grep -q 'pass@2: ' stdout || { cat stdout; fail "the votes"; }
grep -q '"attempt_1"' submission.json && grep -q '"attempt_2"' submission.json || fail "the submission"
expect_exit 2 "$edelta" eval voted --submission submission.json; one_line "--force"
expect_exit 2 "$edelta" eval whole --submission other.json; one_line "test puzzles of ARC"
[ ! -e other.json ] || fail "a submission without ARC"
# Another task's views are as many, but no vector was learnt for them.
mkdir others
sed 's/"e"/"f"/' arc/x_evaluation_challenges.json >others/x_evaluation_challenges.json
sed 's/"e"/"f"/' arc/x_evaluation_solutions.json >others/x_evaluation_solutions.json
expect_exit 0 "$edelta" puzzles arc --from others --subsets evaluation --test-sets evaluation --aug 3 --out strangers
expect_exit 2 "$edelta" eval voted --data strangers; one_line "other names"
# Where nobody knows the solutions, nothing is scored; the submission is what is wanted.
rm others/x_evaluation_solutions.json
expect_exit 0 "$edelta" puzzles arc --from others --subsets evaluation --test-sets evaluation --aug 3 --unsolved --out unknown
expect_exit 0 "$edelta" train --model trm --data unknown --width 16 --heads 2 --width-multiple 8 --layers 1 --act-steps 1 \
  --h-cycles 1 --l-cycles 1 --batch 2 --iterations 1 --out blind --quiet
one_line "use --weights last"
expect_exit 0 "$edelta" eval blind --weights last --submission blind.json
grep -q "nothing to score" stdout && ! grep -q 'pass@\|%' stdout || { cat stdout; fail "scored against what nobody knows"; }
grep -q '"f"' blind.json || fail "no submission"
expect_exit 0 "$edelta" eval blind --json
grep -q '"unsolved": true' stdout && ! grep -q 'loss\|accuracy' stdout || fail "scored against what nobody knows"
expect_exit 0 "$edelta" puzzles arc --from arc --subsets evaluation --test-sets evaluation --aug 3 --unsolved --force --out views
expect_exit 0 "$edelta" eval voted --json
grep -q '"pass_at"' stdout || fail "solutions that are known are not scored"
# A run whose data has moved is not made longer before it is found.
mv views elsewhere
expect_exit 2 "$edelta" train --resume voted --iterations 2; one_line "--data"
expect_exit 0 "$edelta" train --resume voted --iterations 2 --data elsewhere --quiet
echo "puzzles are learnt and solved"
