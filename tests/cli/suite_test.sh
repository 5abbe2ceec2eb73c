#!/usr/bin/env bash
# The whole suite runs end to end.
. "$(dirname "$0")/lib.sh"
expect_exit 0 "$edelta" reproduce all --preset smoke --out "$work/whole"
for name in theorems configs main near-pi norms gate-init reflection lambda width efficiency baselines gain causal blend \
  projection-init streams edelta-stream depth; do
  grep -q "\"name\": \"$name\"" "$work/whole/results.json" || fail "no $name"
done
[ "$(cat "$work/whole/failures.json")" = "{}" ] || fail "something failed"
expect_exit 0 "$edelta" reproduce all --preset smoke --out "$work/whole" --dry-run --json
steps=$(grep -c '"step"' "$work/stdout")
[ "$steps" -gt 300 ] && [ "$(grep -c '"status": "done"' "$work/stdout")" = "$steps" ] || fail "not all steps are done"
echo "the suite runs to its end"
