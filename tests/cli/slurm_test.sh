#!/usr/bin/env bash
# A suite on a real Slurm with two nodes, of which one dies in the middle, has the tables of a local one; and srun starts
# the ranks of one run.
# The nodes' names are known in here alone: in mounts of its own.
if [ -z "${EDELTA_OWN_MOUNTS:-}" ] && [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
  EDELTA_OWN_MOUNTS=1 exec unshare --mount "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "Slurm's daemons need root here"
[ -n "${EDELTA_OWN_MOUNTS:-}" ] || skip "no mounts of its own"
for program in munged slurmctld slurmd sbatch srun squeue; do
  command -v $program >/dev/null || skip "there is no $program"
done
export OMP_NUM_THREADS=1 EDELTA_SECRET="a secret of this test alone: $RANDOM$RANDOM"
unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
host=$(hostname)
{ cat /etc/hosts; echo "127.0.0.1 n1 n2"; } >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts || skip "the nodes cannot be given names"
# A socket's path is short, and munged wants its folders to be nobody else's.
slurm=$(mktemp -d /run/edelta-slurm.XXXXXX)
daemons=()
stop_daemons() {
  scancel --user=root 2>/dev/null || true
  for wait in $(seq 50); do [ -n "$(squeue --noheader 2>/dev/null)" ] || break; sleep 0.2; done
  local pid
  for pid in "${daemons[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
  rm -rf "$slurm" "$work"
}
trap stop_daemons EXIT
chmod 755 "$slurm"
mkdir "$slurm/munge" "$slurm/state" "$slurm/n1" "$slurm/n2"
chmod 700 "$slurm/munge"
head -c 1024 /dev/urandom >"$slurm/munge/key"
chmod 400 "$slurm/munge/key"
mkdir -m 755 "$slurm/socket"
munged --foreground --force --key-file "$slurm/munge/key" --socket "$slurm/socket/munge" --pid-file "$slurm/munge/pid" \
  --seed-file "$slurm/munge/seed" --log-file "$slurm/munge/log" >/dev/null 2>&1 &
daemons+=($!)
first=$((21000 + RANDOM % 8000))
cat >"$slurm/slurm.conf" <<END
ClusterName=edelta
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$first
AuthType=auth/munge
AuthInfo=socket=$slurm/socket/munge
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
InactiveLimit=0
KillWait=5
MessageTimeout=20
JobRequeue=1
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((first + 1)) CPUs=1 RealMemory=1000
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((first + 2)) CPUs=1 RealMemory=1000
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
cat >"$slurm/cgroup.conf" <<END
CgroupPlugin=cgroup/v1
CgroupAutomount=no
END
export SLURM_CONF=$slurm/slurm.conf
slurmctld -D >/dev/null 2>&1 &
daemons+=($!)
start_node() { slurmd -D -N "$1" >/dev/null 2>&1 & daemons+=($!); nodes[$1]=$!; }
declare -A nodes
start_node n1
start_node n2
for wait in $(seq 60); do
  [ "$(sinfo --noheader --format %t%D 2>/dev/null | tr -d '\n')" = idle2 ] && break
  sleep 0.5
done
[ "$(sinfo --noheader --format %t%D | tr -d '\n')" = idle2 ] || { cat "$slurm"/*.log >&2; fail "Slurm does not start"; }

# Ranks of one run, found by Slurm's variables.
tiny=(--model gpt --task gyroscope --dim 4 --steps 6 --width 8 --layers 1 --heads 2 --batch 4 --iterations 40 --warmup 5
  --train-size 16 --val-size 8 --quiet)
"$edelta" train "${tiny[@]}" --out "$work/one" >/dev/null
srun -n 2 -N 2 "$edelta" train "${tiny[@]}" --out "$work/two" >"$work/srun" 2>&1 ||
  { cat "$work/srun" >&2; fail "srun"; }
grep -q '"ranks": 2' "$work/two/config.json" || fail "srun's processes did not train together"
# As the document on scaling has it.
documented=$(grep '^srun ' "$(dirname "$0")/../../docs/scaling.md") || fail "srun is not documented"
(cd "$work" && PATH=$(dirname "$edelta"):$PATH && eval "$documented") >"$work/srun" 2>&1 ||
  { cat "$work/srun" >&2; fail "$documented"; }
grep -q '"ranks": 2' "$work/runs/srun/config.json" || fail "not two ranks: $documented"

# A suite over both nodes, some of whose steps need others: locally and by Slurm.
suite=(reproduce norms theorems --preset smoke --seeds 42)
"$edelta" "${suite[@]}" --jobs 1 --out "$work/local" >/dev/null 2>&1
slurm_suite() { "$edelta" "${suite[@]}" --launcher slurm --out "$work/slurm" "$@"; }
slurm_suite >"$work/said" 2>&1 || { cat "$work/said" >&2; fail "nothing was submitted"; }
grep -q submitted "$work/said" || fail "no word on what was submitted"
running_on() { squeue --noheader --states=running --nodelist="$1" --format %i | wc -l; }
for wait in $(seq 200); do [ "$(running_on n1)" -ge 1 ] && [ "$(running_on n2)" -ge 1 ] && break; sleep 0.2; done
[ "$(running_on n2)" -ge 1 ] || fail "nothing runs on the second node"
# A job that Slurm calls running may still be starting the program.
shows_running() { "$edelta" "${suite[@]}" --status --out "$work/slurm" >"$work/status" && grep -q " runs " "$work/status"; }
for wait in $(seq 100); do shows_running && break; sleep 0.1; done
grep -q " runs " "$work/status" || { cat "$work/status" >&2; fail "the status shows nothing that runs"; }

# The second node dies with all that it runs.
# Whoever would report that a job has ended is stopped first: a dead machine reports nothing.
kill_tree() {
  kill -STOP "$1" 2>/dev/null || return 0
  local child
  for child in $(pgrep -P "$1"); do kill_tree "$child"; done
  kill -KILL "$1"
}
jobs_on_n2=$(squeue --noheader --states=running --nodelist=n2 --format %A)
kill -STOP "${nodes[n2]}"
for job in $jobs_on_n2; do
  for step in $(pgrep -f "slurmstepd: \[$job\."); do kill_tree "$step"; done
done
kill -KILL "${nodes[n2]}"
for wait in $(seq 1200); do
  slurm_suite --json >"$work/said" 2>"$work/stderr" || { cat "$work/said" "$work/stderr" >&2; fail "reproduce"; }
  grep -q '"status"' "$work/said" || break
  sleep 1
done
! grep -q '"status"' "$work/said" || { cat "$work/said" >&2; tail "$slurm/slurmctld.log" >&2; fail "the suite does not end"; }

# The same tables; what a run took and where is not in them.
tables() { # FOLDER: the tables of the results, without times
  sed -n '/"experiments"/,$p' "$1/results.json" | grep -v -e second -e machine -e time
}
diff <(tables "$work/local") <(tables "$work/slurm") || fail "the tables differ"
"$edelta" "${suite[@]}" --status --out "$work/slurm" | tail -n 1 | grep -q "steps: [0-9]* done$" || fail "not all is done"
echo "Slurm runs suites and ranks"
