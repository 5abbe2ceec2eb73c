#!/usr/bin/env bash
# An OpenBLAS that does not know the CPU takes loops for Prescott; the program then begins again and tells it better.
. "$(dirname "$0")/lib.sh"
grep -qw avx2 /proc/cpuinfo || { echo "this CPU has nothing better"; exit 77; }
unset OPENBLAS_CORETYPE

# One that does not know any CPU, and writes down what it is told: when it is loaded and when the process ends.
cat >"$work/stub.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
const char* openblas_get_config(void) { return "OpenBLAS, a stub"; }
const char* openblas_get_corename(void) { const char* told = getenv("OPENBLAS_CORETYPE"); return told ? told : "Prescott"; }
void sgemm_(void) {}
static void note(const char* when) {
  const char* told = getenv("OPENBLAS_CORETYPE");
  FILE* log = fopen(getenv("STUB_LOG"), "a");
  fprintf(log, "%s %s\n", when, told ? told : "-");
  fclose(log);
}
__attribute__((constructor)) static void begin(void) { note("begin"); }
__attribute__((destructor)) static void end(void) { note("end"); }
C
cc -shared -fPIC -o "$work/libopenblas_stub.so" "$work/stub.c"
with_stub=(env LD_PRELOAD="$work/libopenblas_stub.so" STUB_LOG="$work/log"
           ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0")
core=Haswell
grep -qw avx512bw /proc/cpuinfo && core=SkylakeX

# Begun again once, with the right name, of which nothing is left for the processes that this one starts.
"${with_stub[@]}" "$edelta" --version >"$work/said"
grep -q "^edelta " "$work/said" || fail "the command is lost"
printf 'begin -\nbegin %s\nend -\n' $core | cmp - "$work/log" || { cat "$work/log"; fail "not begun again as it should"; }
# What limits the kernels says nothing of the CPU.
rm "$work/log"
EDELTA_ISA=none "${with_stub[@]}" "$edelta" --version >/dev/null
grep -q "begin $core" "$work/log" || { cat "$work/log"; fail "EDELTA_ISA hides the CPU"; }
# ps and pkill know it by its name.
mkfifo "$work/input"
rm "$work/log"
"${with_stub[@]}" "$edelta" text - --out "$work/text" <"$work/input" >/dev/null 2>&1 &
pid=$!
exec 7>"$work/input"
name=
for _ in $(seq 600); do
  name=$(cat /proc/$pid/comm)
  [ "$(grep -c begin "$work/log" 2>/dev/null)" = 2 ] && [ "$name" = "$(basename "$edelta")" ] && break
  sleep 0.02
done
kill -TERM $pid; exec 7>&-; wait $pid || true
[ "$name" = "$(basename "$edelta")" ] || fail "the process is called $name"

# With the OpenBLAS that is here.
doctor() { env "$@" "$edelta" doctor --json; }
doctor >"$work/found"
grep -q '"blas": "OpenBLAS' "$work/found" || fail "the program computes with another BLAS"
grep -q Prescott "$work/found" && fail "OpenBLAS computes as for Prescott"
# What the user has set stays, and doctor says what it costs.
doctor OPENBLAS_CORETYPE=Prescott >"$work/found"
grep -q '"blas": "OpenBLAS.*Prescott' "$work/found" || fail "OPENBLAS_CORETYPE was not respected"
grep -qE "\"warning\": \".*OPENBLAS_CORETYPE=$core" "$work/found" || fail "doctor does not name the remedy"
