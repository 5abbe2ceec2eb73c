# Shared by the tests with several ranks.
. "$(dirname "$0")/lib.sh"
export EDELTA_SECRET="a secret of this test alone: $RANDOM$RANDOM"
unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT SLURM_STEP_ID OMPI_COMM_WORLD_SIZE
# Ranks share the cores with each other and with other tests; none must spin.
export OMP_NUM_THREADS=1

free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

# start_ranks COUNT ARGUMENTS...: edelta train by hand; ${pids[r]} is rank r's, $work/rank.r what it says.
start_ranks() {
  local count=$1 rank
  shift
  pids=()
  export MASTER_ADDR=127.0.0.1 MASTER_PORT
  MASTER_PORT=$(free_port)
  for ((rank = 0; rank < count; rank++)); do
    RANK=$rank WORLD_SIZE=$count "$edelta" train "$@" >"$work/rank.$rank" 2>&1 &
    pids+=($!)
  done
}

# ends_with RANK CODE
ends_with() {
  local code=0
  wait "${pids[$1]}" || code=$?
  [ "$code" = "$2" ] || { cat "$work/rank.$1" >&2; fail "rank $1: exit $code instead of $2"; }
}

# says RANK TEXT: its last line does.
says() {
  tail -n 1 "$work/rank.$1" | grep -qF -- "$2" || { cat "$work/rank.$1" >&2; fail "rank $1 does not say '$2'"; }
}

# train_with COUNT ARGUMENTS...: and all ranks end well.
train_with() {
  local count=$1 rank
  start_ranks "$@"
  for ((rank = 0; rank < count; rank++)); do ends_with "$rank" 0; done
}

# wait_for_iteration RUN N: until its metrics have come so far.
wait_for_iteration() {
  local wait
  for wait in $(seq 600); do
    if [ -f "$1/metrics.jsonl" ] && [ "$(grep -o '"iteration":[0-9]*' "$1/metrics.jsonl" | tail -n 1 | cut -d : -f 2)" -ge "$2" ] 2>/dev/null; then return; fi
    sleep 0.1
  done
  cat "$work"/rank.* >&2
  fail "$1 does not come to iteration $2"
}

# close_runs A B [LIMIT]: the same numbers in their metrics, but for the last bits, relative; of the norm of the gradient,
# which the losses hardly depend on, some bits more.
close_runs() {
  paste <(untimed_metrics "$1") <(untimed_metrics "$2") | awk -F '\t' -v most="${3:-1e-6}" '
    function numbers(text, into,   n) {
      n = 0
      while (match(text, /-?[0-9]+\.?[0-9]*(e[-+]?[0-9]+)?/)) {
        into[++n] = substr(text, RSTART, RLENGTH) + 0
        limit[n] = substr(text, 1, RSTART - 1) ~ /"gradient_norm": ?$/ ? 10 * most : most
        text = substr(text, RSTART + RLENGTH)
      }
      return n
    }
    {
      n = numbers($1, a); m = numbers($2, b)
      if (n != m || n < 2) { print "line " NR ": " n " and " m " numbers"; bad = 1; exit }
      for (i = 1; i <= n; i++) {
        d = a[i] - b[i]; if (d < 0) d = -d
        s = a[i] < 0 ? -a[i] : a[i]
        if (d > limit[i] * s + 1e-12) { print "line " NR ": " a[i] " and " b[i]; bad = 1 }
      }
    }
    END { if (NR < 50) { print NR " lines"; bad = 1 }; exit bad }' || fail "$1 and $2 differ"
}
