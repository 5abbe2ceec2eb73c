#!/usr/bin/env bash
# The whole suite runs end to end.
. "$(dirname "$0")/lib.sh"
expect_exit 0 "$edelta" reproduce all --preset smoke --out "$work/whole"
for name in theorems configs main near-pi norms gate-init reflection lambda width efficiency causal blend \
  projection-init streams edelta-stream depth; do
  grep -q "\"name\": \"$name\"" "$work/whole/results.json" || fail "no $name"
done
[ "$(cat "$work/whole/failures.json")" = "{}" ] || fail "something failed"
[ "$(find "$work/whole/runs" -name result.json | wc -l)" = 48 ] || fail "not all runs are there"
[ "$(find "$work/whole/measurements" -name 'depth-*.json' | wc -l)" = 7 ] || fail "not all depths are probed"
echo "the suite runs to its end"
