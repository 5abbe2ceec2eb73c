#!/usr/bin/env bash
# Controls without an operator: gpt with projections is edelta with branch none, and the maps fold away.
. "$(dirname "$0")/lib.sh"

short=(--preset smoke --task gyroscope --layers 1 --iterations 12 --quiet)
"$edelta" train --model edelta --branch none "${short[@]}" --out "$work/edelta" >/dev/null
"$edelta" train --model gpt --projections on "${short[@]}" --out "$work/gpt" >/dev/null
cmp <(untimed_metrics "$work/edelta") <(untimed_metrics "$work/gpt") || fail "the same model learns in two ways"

number() { sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p" "$work/stdout"; }
expect_exit 0 "$edelta" export "$work/edelta" --out "$work/whole" --json
whole=$(number parameters)
expect_exit 0 "$edelta" export "$work/edelta" --fold --out "$work/folded" --json
grep -q '"model": "gpt"' "$work/stdout" || fail "not folded to gpt"
[ "$(number parameters)" -lt "$whole" ] || fail "nothing was folded"
awk "BEGIN { exit !($(number output_difference) < 1e-5) }" || fail "other outputs: $(cat "$work/stdout")"

"$edelta" train --model mhc "${short[@]}" --out "$work/mhc" >/dev/null
expect_exit 2 "$edelta" export "$work/mhc" --fold --out "$work/none"; one_line "no maps that fold"
expect_exit 2 "$edelta" inspect "$work/edelta"; one_line "no operators on streams"
expect_exit 2 "$edelta" train --model gpt --projection-factors 0 "${short[@]}" --out "$work/x"; one_line projection_factors
