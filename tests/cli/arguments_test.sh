#!/usr/bin/env bash
# What a user types is taken as it is meant, or refused with the name that was typed.
. "$(dirname "$0")/lib.sh"
task=(--task stability --dim 4 --steps 6 --train-size 20 --val-size 10)
refuse() { # TEXT ARGUMENTS...: train refuses them with one line that has TEXT, and leaves no folder
  local text=$1
  shift
  expect_exit 2 timeout 60 "$edelta" train "$@" --out "$work/refused"; one_line "$text"
  [ ! -e "$work/refused" ] || fail "a folder is left: $*"
}
refuse width --task stability --width 17
refuse block "${task[@]}" --block 4
refuse seed "${task[@]}" --seed -1
refuse seed "${task[@]}" --seed 18446744073709551616
refuse "--model" "${task[@]}" --model ""
refuse "--pool" "${task[@]}" --model gpt --pool prefix
refuse "did you mean 'edelta'" "${task[@]}" --model edlta
refuse "did you mean 'stability'" --task stabilty
refuse "GiB" "${task[@]}" --width 16777216
refuse "GiB" "${task[@]}" --batch 1000000000000
refuse "GiB" "${task[@]}" --layers 10000 --width 4096
refuse "GiB" --task stability --steps 400000 --dim 64
refuse "GiB" --task gyroscope --preset smoke --dim 10000000
config() { echo "$1" >"$work/c.json"; shift; refuse "$@" --config "$work/c.json"; }
config '[]' "must be a JSON object"
config 'null' "must be a JSON object"
config '{"task": "stability", "preset": 7}' "c.json: preset must be a string"
config '{"data": 7}' "c.json: data must be a string"
config '{"task": "stability", "train": {"lr": null}}' null
config '{"task": "stability", "train": {"learning_rate": 1}}' "there are:"
config '{"task": "stability", "train": {"iteratons": 1}}' "did you mean 'iterations'"
config '{"task": "stability", "model": {"width": 16, "n_embd": 16}}' "two names"
config '{"task": "stability", "model": {"width": 17}}' "width"
[ "$(grep -o c.json "$work/stderr" | wc -l)" = 1 ] || fail "the file is named more than once"
for command in "data stability --out $work/d --seed -1" "verify --seed -1" "reflect --seeds -1" "reproduce --seeds 1,-1" "generate x --seed -1"; do
  expect_exit 2 timeout 20 "$edelta" $command; one_line seed
done

# Names of flags in files; options of another architecture with a note; a short run's warm-up.
echo '{"task": {"task": "stability", "dim": 4, "steps": 6, "train-size": 20, "val_size": 10},
       "model": {"model": "gpt", "width": 8, "layers": 1, "pool": "prefix"}}' >"$work/c.json"
expect_exit 0 "$edelta" train --config "$work/c.json" --iterations 20 --out "$work/run" --quiet; one_line "gpt has no pool"
grep -q '"n_embd": 8' "$work/run/config.json" && grep -q '"warmup": 2' "$work/run/config.json" || fail "not as asked"
# A flag wins, under either name; a run's own configuration starts another.
expect_exit 0 "$edelta" train --config "$work/run/config.json" --width 12 --out "$work/run2" --quiet
grep -q '"n_embd": 12' "$work/run2/config.json" || fail "the flag did not win"
# mhc has no generator nets whose width could be wrong.
expect_exit 0 "$edelta" train "${task[@]}" --model mhc --width 2 --streams 2 --heads 1 --layers 1 --iterations 10 --out "$work/narrow" --quiet
# data and train name things alike.
expect_exit 0 "$edelta" data near-pi-multi --dim 4 --steps 5 --train-size 3 --val-size 2 --planes all --task-seed 3 --out "$work/planes"

# Data of another kind than asked for.
printf 'abcdefgh%.0s' {1..100} >"$work/book.txt"
expect_exit 0 "$edelta" text "$work/book.txt" --out "$work/text"
expect_exit 0 "$edelta" puzzles sudoku --train 2 --test 2 --out "$work/puzzles"
refuse "there is no such folder" --data "$work/nowhere"
refuse "no data that could be trained on" --data "$work/run"
refuse "it has text" --model trm --data "$work/text"
refuse "it has sequences" --model trm --data "$work/planes"
refuse "it has sequences" --preset chars --data "$work/planes"
refuse "(dim)" --data "$work/planes" --dim 8
expect_exit 2 "$edelta" eval "$work/run" --data "$work/puzzles"; one_line "it has puzzles"
expect_exit 0 "$edelta" data --help
! grep -q Excludes "$work/stdout" || fail "the help names an option that it does not show"

# Defaults that fit short sequences, and the truth about what was done.
for points in 1 2 7 50; do
  expect_exit 0 "$edelta" rollout "$work/run" --steps 20 --points "$points" --json
  [ "$(grep -c '"step"' "$work/stdout")" = "$((points < 20 ? points : 20))" ] || fail "not $points points"
  grep -q '"step": 20,' "$work/stdout" || fail "the last step is not reported"
done
expect_exit 0 "$edelta" norms "$work/run" --json
expect_exit 0 "$edelta" rollout "$work/run" --trajectories 50 --steps 3 --json
grep -q '"trajectories": 10' "$work/stdout" || fail "50 trajectories of 10"
one_line "have 10 validation trajectories"
# What is printed to continue is what a shell takes.
mkdir "$work/a b"
EDELTA_COMMAND=./edelta "$edelta" train "${task[@]}" --model gpt --width 8 --iterations 1000000 --out "$work/a b/it's" --quiet 2>"$work/stderr" >/dev/null &
for wait in $(seq 600); do [ -s "$work/a b/it's/metrics.jsonl" ] || sleep 0.02; done
kill -TERM $!; wait $! || true
grep -qF "./edelta train --resume '" "$work/stderr" || { cat "$work/stderr"; fail "not quoted"; }
# Where there is no checkpoint, none is named.
expect_exit 1 "$edelta" train "${task[@]}" --model gpt --width 8 --lr 1e30 --min-lr 1e30 --warmup 0 --grad-clip 0 --out "$work/nan" --quiet
one_line "there is no checkpoint yet"
expect_exit 0 "$edelta" train --help
# CLI11 shows a default as =0.95, or from its version 2.4 on as [0.95].
for word in jpmhc gyroscope '(=|\[)0\.95' '(=|\[)sequence'; do grep -qE -- "$word" "$work/stdout" || fail "--help lacks $word"; done
# A path that is not UTF-8.
strange="$work/$(printf 'caf\351')"
expect_exit 0 "$edelta" train "${task[@]}" --model gpt --width 8 --iterations 10 --out "$strange" --json
expect_exit 0 "$edelta" eval "$strange" --json
cp -r "$work/planes" "$strange-data"
expect_exit 2 "$edelta" train --model gpt --width 8 --data "$strange-data" --out "$work/refused"; one_line UTF-8
# Noise that leaves no numbers; a file where a folder is to be; a flag that would do nothing; repetitions that are none.
expect_exit 2 "$edelta" data stability --out "$work/loud" --dim 4 --steps 4 --train 2 --val 2 --noise 1e39; one_line noise
[ ! -e "$work/loud" ] || fail "refused data left a folder"
echo file >"$work/file"
for out in file file/x; do
  expect_exit 2 "$edelta" train "${task[@]}" --model gpt --width 8 --iterations 10 --out "$work/$out"; one_line "a file is in the way"
  expect_exit 2 "$edelta" reproduce theorems --preset smoke --out "$work/$out"; one_line "$work/$out"
done
expect_exit 2 "$edelta" params --target gpt; one_line --match
expect_exit 2 "$edelta" depth --iterations -1; one_line 1000000000
expect_exit 0 "$edelta" reflect --operators ddl,ddl --samples 8,8 --seeds 1,1 --iterations 5 --json
[ "$(grep -c '"seed": 1' "$work/stdout")" = 1 ] || { cat "$work/stdout"; fail "one training counts as several"; }
echo "arguments are taken as they are meant"
