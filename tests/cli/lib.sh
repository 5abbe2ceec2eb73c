# Shared by the command-line tests: $edelta is the program, $work a temporary folder.
set -euo pipefail
edelta=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

# expect_exit CODE COMMAND...: runs it; its standard error goes to $work/stderr.
expect_exit() {
  local expected=$1 code=0
  shift
  "$@" >"$work/stdout" 2>"$work/stderr" || code=$?
  [ "$code" = "$expected" ] || { cat "$work/stderr" >&2; fail "exit $code instead of $expected: $*"; }
}

# one_line TEXT: standard error is one line that contains TEXT.
one_line() {
  [ "$(wc -l <"$work/stderr")" = 1 ] || { cat "$work/stderr" >&2; fail "not one line"; }
  grep -qF -- "$1" "$work/stderr" || { cat "$work/stderr" >&2; fail "no '$1'"; }
}

# Metrics without what the clock says.
untimed_metrics() { sed 's/,"tokens_per_second":[^,}]*//; s/,"sum":[^,}]*//' "$1/metrics.jsonl"; }

same_run() {
  cmp "$1/best/model.safetensors" "$2/best/model.safetensors" || fail "best weights differ"
  same_training "$1" "$2"
}

# The same for runs whose configurations differ in what has no effect on results.
same_training() {
  "$edelta" export "$1" --weights last --out "$work/a.safetensors" --force >/dev/null
  "$edelta" export "$2" --weights last --out "$work/b.safetensors" --force >/dev/null
  cmp "$work/a.safetensors" "$work/b.safetensors" || fail "last weights differ"
  cmp <(untimed_metrics "$1") <(untimed_metrics "$2") || fail "metrics differ"
}
