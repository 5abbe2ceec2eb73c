#!/usr/bin/env bash
# A rank that ends or hangs ends the others, in time and with a word on who it was; what was saved is continued
# exactly, by as many ranks or by others.
. "$(dirname "$0")/ranks_lib.sh"
common=(--model edelta --task gyroscope --dim 4 --steps 6 --width 16 --layers 1 --heads 2 --train-size 32 --val-size 70
  --log-interval 1 --eval-interval 20 --checkpoint-interval 20 --warmup 5 --dropout 0.1 --quiet)
divided=("${common[@]}" --batch 8 --iterations 1000000)
host=$(hostname)
checkpoint_is_whole() { "$edelta" eval "$1" --weights last >/dev/null || fail "$1: the checkpoint is not whole"; }

# Killed: the others know before the time limit. The first rank keeps the store, so it is another case.
for victim in 2 0; do
  start_ranks 4 "${divided[@]}" --out "$work/killed$victim" --timeout 60
  wait_for_iteration "$work/killed$victim" 25
  kill -KILL "${pids[$victim]}"
  for rank in 0 1 2 3; do
    [ $rank != $victim ] || continue
    ends_with $rank 1
    says $rank "rank $victim on $host"
  done
  checkpoint_is_whole "$work/killed$victim"
done

# Stopped: at the time limit.
start_ranks 2 "${divided[@]}" --out "$work/hangs" --timeout 2
wait_for_iteration "$work/hangs" 25
kill -STOP "${pids[1]}"
ends_with 0 1
says 0 "rank 1 on $host"
kill -KILL "${pids[1]}"
checkpoint_is_whole "$work/hangs"

# A checkpoint that cannot be written: the other rank says why, too.
start_ranks 2 "${divided[@]}" --out "$work/full" --timeout 60
wait_for_iteration "$work/full" 5
until rm -rf "$work/full/checkpoint"; do :; done 2>/dev/null
ends_with 0 1
ends_with 1 1
says 1 "rank 0 on $host ended: "

# SIGTERM to one stops all at one step, saved; another number of ranks goes on from there, and the end is that of a
# run that was left alone, to the last bit.
tree=("${common[@]}" --batch 2 --accumulate 4 --deterministic-reduction --iterations 160)
"$edelta" train "${tree[@]}" --out "$work/whole" >/dev/null
start_ranks 2 "${tree[@]}" --out "$work/moved"
wait_for_iteration "$work/moved" 20
kill -TERM "${pids[1]}"
ends_with 0 143
ends_with 1 143
says 0 "train --resume"
[ ! -s "$work/rank.1" ] || fail "the other rank speaks"
start_ranks 4 --resume "$work/moved" --quiet
wait_for_iteration "$work/moved" 70
kill -TERM "${pids[0]}"
for rank in 0 1 2 3; do ends_with $rank 143; done
[ ! -f "$work/moved/result.json" ] || fail "it had finished already"
"$edelta" train --resume "$work/moved" --quiet >/dev/null 2>"$work/stderr"
[ ! -s "$work/stderr" ] || { cat "$work/stderr"; fail "a note about bits that are the same"; }
same_run "$work/whole" "$work/moved"
grep -q '"ranks": \[' "$work/moved/config.json" || fail "no history of ranks"

# A run that is finished is said to be, by all ranks.
train_with 2 --resume "$work/moved" --quiet
grep -q "validation loss" "$work/rank.0" || fail "no result"
echo "ranks fail together and are resumed exactly"
