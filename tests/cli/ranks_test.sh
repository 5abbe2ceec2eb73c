#!/usr/bin/env bash
# Several ranks train what one process trains.
. "$(dirname "$0")/ranks_lib.sh"
common=(--model edelta --task gyroscope --dim 4 --steps 6 --width 16 --layers 2 --heads 2 --warmup 5 --log-interval 1
  --eval-interval 10 --checkpoint-interval 10 --train-size 32 --val-size 70 --dropout 0.1 --quiet)
vectors=("${common[@]}" --batch 8 --iterations 50)

# To the last bits but few, with dropout, clipping and gates; the rows of every batch are divided.
"$edelta" train "${vectors[@]}" --out "$work/one" >/dev/null
for count in 2 4; do
  train_with $count "${vectors[@]}" --out "$work/ranks$count"
  close_runs "$work/one" "$work/ranks$count"
done
grep -q '"ranks": 4' "$work/ranks4/config.json" || fail "the run does not say how many ranks it had"

# To the last bit, whatever the number of ranks.
tree=("${common[@]}" --batch 4 --accumulate 4 --iterations 50 --deterministic-reduction)
"$edelta" train "${tree[@]}" --out "$work/tree1" >/dev/null
for count in 2 4; do
  train_with $count "${tree[@]}" --out "$work/tree$count"
  same_run "$work/tree1" "$work/tree$count"
done
train_with 2 "${tree[@]}" --recompute true --out "$work/recomputed"
same_training "$work/tree1" "$work/recomputed"

# Text, whose validation takes more than one pass; the ranks meet in a folder.
seq 1 9000 >"$work/numbers.txt"
"$edelta" text "$work/numbers.txt" --out "$work/text" --tokenizer bytes >/dev/null 2>&1
text=(--model gpt --width 16 --layers 1 --heads 2 --batch 4 --block 8 --iterations 50 --warmup 5
  --log-interval 1 --eval-interval 25 --quiet)
"$edelta" train "${text[@]}" --data "$work/text" --out "$work/text1" >/dev/null
train_with 2 "${text[@]}" --data "$work/text" --out "$work/text2" --store "$work/store"
close_runs "$work/text1" "$work/text2"

# Strangers at every port that the ranks listen on, with random bytes, too few of them or none: the run is what it is
# without them, to the last bit.
listening() { # PID: the ports
  local inode
  for inode in $(find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' 2>/dev/null | tr -dc '0-9\n'); do
    awk -v inode="$inode" '$4 == "0A" && $10 == inode { print substr($2, index($2, ":") + 1) }' /proc/net/tcp
  done | while read -r port; do echo $((16#$port)); done
}
long=("${common[@]}" --batch 8 --iterations 150)
start_ranks 2 "${long[@]}" --out "$work/visited"
wait_for_iteration "$work/visited" 3
ports=$(for pid in "${pids[@]}"; do listening "$pid"; done | sort -u)
grep -qx "$MASTER_PORT" <<<"$ports" || fail "rank 0 does not listen at its port"
for visit in $(seq 80); do
  for port in $ports; do
    exec {guest}<>"/dev/tcp/127.0.0.1/$port" || continue
    head -c $((RANDOM % 64)) /dev/urandom >&"$guest" || true
    if [ $((visit % 2)) = 0 ]; then exec {guest}>&-; fi  # the others stay
  done
done 2>/dev/null
ends_with 0 0
ends_with 1 0
train_with 2 "${long[@]}" --out "$work/quiet"
same_run "$work/visited" "$work/quiet"

# What cannot be divided is refused, with both numbers.
RANK=2 WORLD_SIZE=3 expect_exit 2 "$edelta" train "${vectors[@]}" --out "$work/third"
one_line "batch is 8 and accumulate 1; 3 ranks"
[ ! -e "$work/third" ] || fail "a run folder of nothing"

# A rank with another configuration, or without the data: nothing is written.
differs() { # WORD ARGUMENTS...: rank 1 does, of which both speak
  local word=$1
  shift
  MASTER_PORT=$(free_port)
  WORLD_SIZE=2 RANK=0 "$edelta" train "${given[@]}" "${first[@]}" --out "$work/other" >"$work/rank.0" 2>&1 & pids=($!)
  WORLD_SIZE=2 RANK=1 expect_exit 2 "$edelta" train "${given[@]}" --out "$work/other" "$@"
  one_line "$word"
  ends_with 0 2; says 0 "rank 1 on $(hostname): "; says 0 "$word"
  [ ! -e "$work/other" ] || fail "a run folder of a refused run"
}
export MASTER_ADDR=127.0.0.1 MASTER_PORT
given=("${vectors[@]}") first=()
differs "lr is 0.5, and 0.001 at rank 0" --lr 0.5
differs "threads is 2, and 1 at rank 0" --threads 2
given+=(--accumulate 2)
differs "deterministic_reduction is true, and false at rank 0" --deterministic-reduction
given=("${text[@]}") first=(--data "$work/text")
seq 9000 -1 1 >"$work/backwards.txt"
"$edelta" text "$work/backwards.txt" --out "$work/other-text" --tokenizer bytes >/dev/null 2>&1
differs "checksum is" --data "$work/other-text"

# A port in use.
MASTER_PORT=$(free_port)
RANK=0 WORLD_SIZE=2 "$edelta" train "${vectors[@]}" --out "$work/waiting" --timeout 30 >/dev/null 2>&1 &
waiting=$!
for wait in $(seq 100); do (exec 3<>"/dev/tcp/127.0.0.1/$MASTER_PORT") 2>/dev/null && break; sleep 0.1; done
RANK=0 WORLD_SIZE=2 expect_exit 2 "$edelta" train "${vectors[@]}" --out "$work/second"; one_line "in use"
# Another secret, and an address that nobody answers.
RANK=1 WORLD_SIZE=2 EDELTA_SECRET="another secret, alas" expect_exit 2 "$edelta" train "${vectors[@]}"; one_line "another secret"
kill -KILL $waiting
wait $waiting 2>/dev/null || true
RANK=1 WORLD_SIZE=2 MASTER_PORT=$(free_port) expect_exit 2 "$edelta" train "${vectors[@]}" --timeout 1
one_line "nobody answered within 1 s"
MASTER_PORT=$(free_port) RANK=0 WORLD_SIZE=2 expect_exit 1 "$edelta" train "${vectors[@]}" --timeout 1
one_line "rank 1 of 2 has not come within 1 s"
[ ! -e "$work/waiting" ] || fail "a run folder of a run that never began"
expect_exit 2 "$edelta" train "${vectors[@]}" --store "$work/store"; one_line "--store goes with several processes"

# Slurm's launcher without Slurm.
mkdir "$work/tools"
ln -s "$(command -v sh)" "$work/tools/sh"
PATH=$work/tools expect_exit 2 "$edelta" reproduce theorems --preset smoke --launcher slurm --out "$work/suite"
one_line "needs Slurm's commands"
[ ! -e "$work/suite" ] || fail "a suite that nobody can run"
expect_exit 2 "$edelta" reproduce theorems --preset smoke --slurm-options x --out "$work/suite"
one_line "--slurm-options goes with --launcher slurm"
echo "ranks train what one process trains"
