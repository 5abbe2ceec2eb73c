#!/usr/bin/env bash
# Installs the build into a temporary folder, and builds and runs the examples against it as a project
# outside the tree, on a system that does not have what only the program needs.
#   run.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
# The Python package is where Python looks below the prefix, and needs nothing of the tree.
packages=$(echo "$work"/prefix/lib/python3*/dist-packages)
(cd "$work" && PYTHONPATH=$packages /usr/bin/python3 -c '
import edelta, torch
assert edelta.__file__.startswith("'"$packages"'"), edelta.__file__
block = edelta.nn.HybridResidual(8, branch=torch.nn.Linear(8, 8))
block(torch.randn(2, 3, 8)).sum().backward()
print("the installed Python package", edelta.__version__, "works")')
cp -r "$2"/examples "$work/"
cmake -S "$work/examples" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
ninja -C "$work/build"
cd "$work"
for example in operators own_architecture generate; do
  echo "== $example"
  "build/$example"
done
echo "== training, twice: the second call finds it finished"
build/training "$work/run"
build/training "$work/run" | tail -n 1
