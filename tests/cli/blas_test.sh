#!/usr/bin/env bash
# An OpenBLAS that does not know the CPU takes loops for an older one; the program then begins again and tells it better.
. "$(dirname "$0")/lib.sh"
grep -qw avx2 /proc/cpuinfo || { echo "this CPU has nothing better"; exit 77; }
unset OPENBLAS_CORETYPE

# One that takes every CPU for $STUB_CORE, and writes down what it is told: when it is loaded and when the process ends.
cat >"$work/stub.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
const char* openblas_get_config(void) { return "OpenBLAS, a stub"; }
const char* openblas_get_corename(void) { const char* told = getenv("OPENBLAS_CORETYPE"); return told ? told : getenv("STUB_CORE"); }
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
with_stub=(env LD_PRELOAD="$work/libopenblas_stub.so" STUB_LOG="$work/log" STUB_CORE=Prescott
           ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0")
core=Haswell
grep -qw avx512bw /proc/cpuinfo && core=SkylakeX

# Begun again once, with the right name, of which nothing is left for the processes that this one starts.
"${with_stub[@]}" "$edelta" --version >"$work/said"
grep -q "^edelta " "$work/said" || fail "the command is lost"
printf 'begin -\nbegin %s\nend -\n' $core | cmp - "$work/log" || { cat "$work/log"; fail "not begun again as it should"; }
# So with any core that has less than the CPU, but not with one that is as good, nor with one that nothing is known of.
begun_with() {
  rm "$work/log"
  "${with_stub[@]}" STUB_CORE="$1" "$edelta" --version >/dev/null
  sed -n 's/^begin //p' "$work/log" | paste -sd ' '
}
for old in Barcelona Sandybridge Nano; do
  [ "$(begun_with $old)" = "- $core" ] || fail "$old is taken as it is"
done
if [ $core = SkylakeX ]; then
  [ "$(begun_with Haswell)" = '- SkylakeX' ] || fail 'AVX-512 is left unused'
fi
for good in $core SapphireRapids Unheard; do
  [ "$(begun_with $good)" = '-' ] || fail "$good is not taken as it is"
done
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
grep -q 'older CPU' "$work/found" && fail "OpenBLAS computes as for an older CPU"
# What the user has set stays, and doctor says what it costs.
doctor OPENBLAS_CORETYPE=Prescott >"$work/found"
grep -q '"blas": "OpenBLAS.*Prescott' "$work/found" || fail "OPENBLAS_CORETYPE was not respected"
grep -qE "\"warning\": \".*Prescott.*OPENBLAS_CORETYPE=$core" "$work/found" || fail "doctor does not name the remedy"
if [ $core = SkylakeX ]; then
  # What costs less is said where speed is measured, and there alone.
  doctor OPENBLAS_CORETYPE=Haswell >"$work/found"
  grep -qE '"warning": ".*Haswell.*OPENBLAS_CORETYPE=SkylakeX' "$work/found" || fail "doctor leaves AVX-512 unused without a word"
  OPENBLAS_CORETYPE=Haswell "$edelta" train --model gpt --task stability --preset smoke --iterations 1 --warmup 0 --out "$work/run" 2>"$work/stderr" >/dev/null
  ! grep Haswell "$work/stderr" || fail "train speaks of what the user has chosen"
fi
