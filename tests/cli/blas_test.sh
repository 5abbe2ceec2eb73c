#!/usr/bin/env bash
# An OpenBLAS that is older than the CPU takes loops for Prescott; the program then begins again and tells it better.
. "$(dirname "$0")/lib.sh"
grep -qw avx2 /proc/cpuinfo || { echo "this CPU has nothing better"; exit 0; }
doctor() { env -u EDELTA_ISA "$@" "$edelta" doctor --json; }

doctor -u OPENBLAS_CORETYPE >"$work/found"
grep -q '"blas": "OpenBLAS' "$work/found" || fail "the program computes with another BLAS"
grep -q Prescott "$work/found" && fail "OpenBLAS computes as for Prescott"

# What the user has set stays, and doctor says what it costs.
doctor OPENBLAS_CORETYPE=Prescott >"$work/found"
grep -q '"blas": "OpenBLAS.*Prescott' "$work/found" || fail "OPENBLAS_CORETYPE was not respected"
grep -qE '"warning": ".*OPENBLAS_CORETYPE=(SkylakeX|Haswell)' "$work/found" || fail "doctor does not name the remedy"

# Begun again or not, ps and pkill know it by its name.
"$edelta" train --model gpt --task stability --preset smoke --iterations 100000 --out "$work/run" >/dev/null 2>&1 &
for wait in $(seq 600); do [ -s "$work/run/metrics.jsonl" ] || sleep 0.02; done
name=$(cat /proc/$!/comm); kill -TERM $!; wait $! || true
[ "$name" = "$(basename "$edelta")" ] || fail "the process is called $name"
