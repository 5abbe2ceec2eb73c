#!/usr/bin/env bash
# on_wider_processor.sh COMMAND...: runs it where the processor has AVX-512. Elsewhere the tests without
# EDELTA_ISA=avx2 are these already, and it says so with the exit status 77.
grep -qw avx512f /proc/cpuinfo || { echo "this processor's own kernels are those of AVX2"; exit 77; }
exec "$@"
