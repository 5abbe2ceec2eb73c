#!/usr/bin/env bash
# ./edelta and ./test where they cannot build, or have to wait: one line says so. A tree with a program and
# build tools that only pretend stands for the real one.
. "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
chmod 755 "$work"
tree=$work/tree
mkdir -p "$tree/build/release" "$work/tools"
cp -r "$root/edelta" "$root/test" "$root/scripts" "$tree"
printf '#!/bin/sh\necho "$EDELTA_COMMAND $*"\n' >"$work/program"
chmod 755 "$work/program"
ln -s /usr/bin/* "$work/tools"
for tool in cmake ninja dpkg-query; do rm -f "$work/tools/$tool"; done
printf '#!/bin/sh\nexit 0\n' >"$work/tools/cmake"
printf '#!/bin/sh\necho "ninja: no work to do."\n' >"$work/tools/ninja"
# Every package is there.
printf '#!/bin/sh\nshift 3\nprintf "installed %%s\\n" "$@"\n' >"$work/tools/dpkg-query"
chmod 755 "$work/tools/cmake" "$work/tools/ninja" "$work/tools/dpkg-query"

one_line() { # one_line TEXT: standard error is one line that contains TEXT
  [ "$(wc -l <"$work/stderr")" = 1 ] || { cat "$work/stderr"; fail "not one line"; }
  grep -qF -- "$1" "$work/stderr" || { cat "$work/stderr"; fail "no '$1'"; }
}
call() { PATH=$work/tools "$@"; }
as_other() { # someone who may not write the tree
  if [ "$(id -u)" = 0 ]; then
    call setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
  else
    call "$@"
  fi
}

# A tree of another user.
[ "$(id -u)" = 0 ] || chmod -R a-w "$tree"
expect_exit 1 as_other "$tree/edelta" params; one_line "may not write"
expect_exit 1 as_other "$tree/test"; one_line "may not write"
[ "$(id -u)" = 0 ] || chmod -R u+w "$tree"
cp "$work/program" "$tree/build/release/edelta"
[ "$(id -u)" = 0 ] || chmod -R a-w "$tree"
expect_exit 0 as_other "$tree/edelta" params 'a b'
[ "$(cat "$work/stdout")" = "$tree/edelta params a b" ] || { cat "$work/stdout"; fail "the built program did not run"; }
[ ! -s "$work/stderr" ] || { cat "$work/stderr"; fail "something was said"; }
[ "$(id -u)" = 0 ] || chmod -R u+w "$tree"

# A read-only medium. (Needs the right to mount.)
mkdir "$work/readonly"
if mount --bind "$tree" "$work/readonly" 2>/dev/null; then
  trap 'umount "$work/readonly"; rm -rf "$work"' EXIT
  mount -o remount,bind,ro "$work/readonly"
  expect_exit 0 call "$work/readonly/edelta" params
  [ ! -s "$work/stderr" ] || { cat "$work/stderr"; fail "something was said"; }
else
  echo "skipped: a read-only medium (no right to mount)"
fi

# How it was called is what a printed command begins with.
(cd "$tree/scripts" && call ../edelta params) >"$work/stdout" 2>/dev/null
[ "$(cat "$work/stdout")" = "../edelta params" ] || { cat "$work/stdout"; fail "not as it was called"; }

# Another build holds the lock.
flock "$tree/build/release/.lock" sleep 3 &
sleep 0.5
expect_exit 0 call "$tree/edelta" params; one_line "waiting for another build"
wait
expect_exit 0 call "$tree/edelta" params
[ ! -s "$work/stderr" ] || { cat "$work/stderr"; fail "waited for nobody"; }

# What a build needs is not there.
rm "$work/tools/cmake"
expect_exit 1 call "$tree/edelta" params; one_line "cmake is missing"
printf '#!/bin/sh\nexit 0\n' >"$work/tools/cmake" && chmod 755 "$work/tools/cmake"
rm "$tree/build/release/.lock" && mkdir "$tree/build/release/.lock"
expect_exit 1 call "$tree/edelta" params; one_line "cannot be written"
echo "what stands in the way of a build is said in one line"
