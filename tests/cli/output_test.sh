#!/usr/bin/env bash
# Output that is lost is an error of every command; messages that are lost stop none.
. "$(dirname "$0")/lib.sh"
"$edelta" train --model edelta --task stability --preset smoke --iterations 4 --warmup 1 --out "$work/run" >/dev/null 2>&1
small="--preset smoke --iterations 2 --warmup 1"
commands=(
  "--help" "--version" "train --help" "completion bash" "params" "params --json" "doctor"
  "data stability --dim 4 --steps 4 --train 4 --val 4 --out $work/data"
  "eval $work/run" "rollout $work/run --steps 4" "inspect $work/run --json" "norms $work/run --positions 8"
  "export $work/run --out $work/model.safetensors"
  "verify --n 2 --samples 4" "reflect --operators ddl --samples 10 --seeds 1 --iterations 2"
  "baselines stability --dim 4 --steps 4 --train-size 4 --val-size 4"
  "depth --models gpt --layers 1 --width 16 --preset smoke"
  "bench --models gpt --batch 1 --length 8 --width 32 --repetitions 1 --compare none"
  "reproduce --dry-run --preset smoke --out $work/nothing"
)

# into CODE REDIRECTION COMMAND...: runs it with that redirection; messages go to $work/stderr.
into() {
  local expected=$1 redirection=$2
  shift 2
  expect_exit "$expected" bash -c "\"\$@\" $redirection" bash "$@"
}
last_line() { # last_line TEXT: standard error ends with that line
  [ "$(tail -n 1 "$work/stderr")" = "$1" ] || { cat "$work/stderr"; fail "no '$1': $command"; }
}

for command in "${commands[@]}"; do
  into 1 '>/dev/full' "$edelta" $command; last_line "edelta: cannot write standard output: No space left on device"
done
for command in --version "verify --n 2 --samples 4"; do
  into 1 '>&-' "$edelta" $command; last_line "edelta: cannot write standard output: Bad file descriptor"
  into 0 '2>/dev/full' "$edelta" $command
  [ -s "$work/stdout" ] || fail "no output: $command"
done
command="train"
into 1 '>/dev/full' "$edelta" train --model gpt --task stability $small --out "$work/full"
last_line "edelta: cannot write standard output: No space left on device"
into 0 '2>/dev/full' "$edelta" train --model gpt --task stability $small --out "$work/quiet"
grep -q "everything is in" "$work/stdout" || fail "no result"

# Closed descriptors are nobody else's: no file takes what is meant for them.
into 1 '<&- >&- 2>&-' "$edelta" train --model gpt --task stability $small --out "$work/closed"
for run in full quiet closed; do expect_exit 0 "$edelta" eval "$work/$run"; done
same_run "$work/quiet" "$work/closed"

# A reader that has seen enough ends the program without a word, as it ends others.
mkfifo "$work/pipe"
(sleep 0.3; code=0; "$edelta" params 2>"$work/stderr" || code=$?; echo $code >"$work/code") >"$work/pipe" &
: <"$work/pipe"
wait
[ "$(cat "$work/code")" = 141 ] || fail "exit $(cat "$work/code") without a reader"
[ ! -s "$work/stderr" ] || { cat "$work/stderr"; fail "a word without a reader"; }

# Names that a terminal would obey, and paths that lead nowhere: one line.
one_line() {
  [ "$(wc -l <"$work/stderr")" = 1 ] || { cat "$work/stderr"; fail "not one line"; }
  grep -qF -- "$1" "$work/stderr" || { cat "$work/stderr"; fail "no '$1'"; }
}
expect_exit 2 "$edelta" eval $'no\nrun\e[31m\xff'; one_line 'no\nrun\x1b[31m\xff'
ln -s loop "$work/loop"
expect_exit 2 "$edelta" report "$work/loop"; one_line "$work/loop: Too many levels of symbolic links"

# What was probably meant.
expect_exit 2 "$edelta" evl; one_line "there is no command 'evl'; did you mean 'eval'? (see edelta --help)"
expect_exit 2 "$edelta" train --widht 3; one_line "there is no option --widht; did you mean --width? (see edelta train --help)"
expect_exit 2 "$edelta" eval --splt=val; one_line "did you mean --split?"
expect_exit 2 "$edelta" walk; one_line "there is no command 'walk' (see edelta --help)"
echo "nothing is lost in silence"
