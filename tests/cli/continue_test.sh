#!/usr/bin/env bash
# What a run was begun with is what it is continued with; what was changed is refused or said.
. "$(dirname "$0")/lib.sh"
small=(--model gpt --task stability --dim 4 --steps 6 --train-size 20 --val-size 10 --width 8 --layers 1 --batch 4
  --eval-interval 10)

# Threads and implementation are kept in the run (the numbers of a composite run differ from a fused one's).
wide=(--model edelta --task gyroscope --preset smoke --checkpoint-interval 10 --iterations 40 --impl composite --threads 1)
"$edelta" train "${wide[@]}" --out "$work/whole" --quiet >/dev/null
stop_after_checkpoint() { # FOLDER ARGUMENTS...: a run that is killed once it has a checkpoint
  local folder=$1
  shift
  "$edelta" train "$@" --out "$folder" --quiet >/dev/null 2>&1 &
  for wait in $(seq 600); do [ -f "$folder/checkpoint/checkpoint.safetensors" ] || sleep 0.02; done
  kill -KILL $! 2>/dev/null || true
  wait $! 2>/dev/null || true
}
stop_after_checkpoint "$work/stopped" "${wide[@]}"
rm -f "$work/stopped/result.json"
expect_exit 0 "$edelta" train --resume "$work/stopped" --quiet
[ ! -s "$work/stderr" ] || { cat "$work/stderr"; fail "something was said"; }
same_run "$work/whole" "$work/stopped"

# Asked for something else, it says so and keeps it in the history.
"$edelta" train "${small[@]}" --checkpoint-interval 10 --iterations 20 --threads 2 --out "$work/run" --quiet >/dev/null
rm "$work/run/result.json"
expect_exit 0 "$edelta" train --resume "$work/run" --threads 1 --quiet; one_line "it was trained with 2"
grep -q '"threads": \[' "$work/run/config.json" || fail "no history"

# Longer, with the learning rate held or stretched; not shorter.
expect_exit 2 "$edelta" train --resume "$work/run" --iterations 20; one_line "it must be more"
expect_exit 2 "$edelta" train --resume "$work/run" --lr 1; one_line "--iterations"
expect_exit 0 "$edelta" train --resume "$work/run" --iterations 30 --json
grep -q '"iterations": 30' "$work/stdout" || fail "it was not extended"
expect_exit 0 "$edelta" train --resume "$work/run" --iterations 40 --schedule stretched
grep -q '"schedule": "stretched"' "$work/run/config.json" || fail "no history"
# Not from the beginning, where the end is gone.
cp -r "$work/run" "$work/endless"
rm "$work/endless/checkpoint/checkpoint.safetensors"
expect_exit 2 "$edelta" train --resume "$work/endless" --iterations 50; one_line "checkpoint of the finished run is missing"
cmp "$work/run/config.json" "$work/endless/config.json" || fail "a run that is not extended was changed"

# An edited configuration, a lost checkpoint, lost metrics.
copy() { rm -rf "$work/copy"; cp -r "$work/run" "$work/copy"; rm "$work/copy/result.json"; }
copy; sed -i 's/"lr": 0.001/"lr": 0.002/' "$work/copy/config.json"
for command in "train --resume" eval "rollout --steps 2" norms "export --out $work/x"; do
  expect_exit 2 "$edelta" $command "$work/copy"; one_line config.json
done
copy; rm "$work/copy/checkpoint/checkpoint.safetensors"
expect_exit 2 "$edelta" train --resume "$work/copy"; one_line "the checkpoint is missing"
copy; : >"$work/copy/checkpoint/checkpoint.safetensors"
expect_exit 2 "$edelta" train --resume "$work/copy"
copy; : >"$work/copy/metrics.jsonl"
expect_exit 2 "$edelta" train --resume "$work/copy"; one_line metrics.jsonl
copy; rm -r "$work/copy/best"
expect_exit 2 "$edelta" eval "$work/copy"; one_line "no best model"
copy; rm "$work/copy/config.json"; mkfifo "$work/copy/config.json"
expect_exit 2 timeout 20 "$edelta" eval "$work/copy"; one_line "not a regular file"

# Killed before its first checkpoint it begins again, and says so.
"$edelta" train "${small[@]}" --iterations 100000 --log-interval 1 --checkpoint-interval 100000 --out "$work/young" --quiet 2>/dev/null &
for wait in $(seq 600); do [ -s "$work/young/metrics.jsonl" ] || sleep 0.02; done
expect_exit 2 "$edelta" train --resume "$work/young"; one_line "process $!"
kill -KILL $!; wait $! 2>/dev/null || true
: >"$work/stderr"  # what the last command said must not be taken for what this one says
"$edelta" train --resume "$work/young" --quiet >/dev/null 2>"$work/stderr" &
for wait in $(seq 600); do [ -s "$work/stderr" ] || sleep 0.02; done
kill -KILL $!; wait $! 2>/dev/null || true
one_line "begins again"

# A second one in the same folder, unless it is told to replace it.
expect_exit 2 "$edelta" train "${small[@]}" --out "$work/run"; one_line "--force"
expect_exit 0 "$edelta" train "${small[@]}" --iterations 10 --out "$work/run" --force --quiet
[ "$(wc -l <"$work/run/config.json")" -gt 1 ] && grep -q '"iterations": 10' "$work/run/config.json" || fail "not replaced"
echo "runs are continued as they were begun"
