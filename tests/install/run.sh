#!/usr/bin/env bash
# Installs the build into a temporary folder and builds the consumer against it.
#   run.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
cp "$2"/tests/install/{CMakeLists.txt,consumer.cpp} "$work/"
cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Debug
ninja -C "$work/build"
"$work/build/consumer"
"$work/prefix/bin/edelta" --version
