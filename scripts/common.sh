# Shared by ./edelta and ./test: installs what is missing, configures, builds what is stale.
# Everything is said on standard error, so that a command's --json output stays clean.

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# missing_packages LIST...: those of the files in scripts/ that are not installed.
missing_packages() {
  local wanted
  wanted=$(cd "$EDELTA_ROOT/scripts" && sed '/^#/d' "$@")
  # ${db:Status-Status} prints "installed" for a package that is fully there.
  comm -23 <(printf '%s\n' $wanted | sort -u) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p' | sort -u) |
    tr '\n' ' '
}

# install_packages [LIST...]: what the program needs, and further lists.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "note: this is no Debian system; the packages named in scripts/*packages.txt must be there"
    return
  fi
  local packages
  packages=$(missing_packages packages.txt "$@")
  [ -n "$packages" ] || return 0
  local apt="apt-get install -y --no-install-recommends $packages"
  local as_root=''
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; } ||
      die "packages are missing and this user cannot install them; as root, run: apt-get update && $apt"
    as_root=sudo
  fi
  say "installing: $packages"
  { $as_root apt-get update -q && DEBIAN_FRONTEND=noninteractive $as_root $apt -q; } >&2 ||
    die "the installation failed; as root, run: apt-get update && $apt"
}

# may_build PRESET: whether this user may write where it is built. Not so in a tree of another user or on a
# read-only medium.
may_build() {
  local dir="$EDELTA_ROOT/build/$1"
  while [ ! -e "$dir" ]; do dir=$(dirname "$dir"); done
  [ -d "$dir" ] && [ -w "$dir" ]
}

# build PRESET [TARGET...]: configures once and lets Ninja decide what is stale.
build() {
  local preset=$1
  shift
  local dir="$EDELTA_ROOT/build/$preset"
  local program
  for program in cmake ninja flock; do
    command -v $program >/dev/null || die "$program is missing; install the packages named in scripts/packages.txt"
  done
  mkdir -p "$dir" 2>/dev/null && { : >>"$dir/.lock"; } 2>/dev/null || die "$dir cannot be written"
  exec 9>>"$dir/.lock"
  if ! flock -w 1 9; then
    say "waiting for another build to finish ..."
    flock 9
  fi
  if [ ! -f "$dir/build.ninja" ]; then
    (cd "$EDELTA_ROOT" && cmake --preset "$preset") >"$dir/configure.log" 2>&1 ||
      { cat "$dir/configure.log" >&2; die "configuration failed"; }
  fi
  # Is anything stale? First the build files, which are renewed if sources came or went. A dry run would stop
  # after that; given another name for build.ninja, it looks at the targets.
  local output
  output=$(ninja -C "$dir" --quiet build.ninja 2>&1) || { say "$output"; die "configuration failed"; }
  local targets=("${@:-all}")
  if ninja -C "$dir" -f /dev/stdin -n "${targets[@]}" <<<'include build.ninja' 2>/dev/null | grep -q 'no work to do'; then
    exec 9>&-
    return
  fi
  say "building ($preset) ..."
  if [ -t 2 ]; then
    ninja -C "$dir" "${targets[@]}" >&2 || die "the build failed"
  else
    ninja -C "$dir" "${targets[@]}" >"$dir/build.log" 2>&1 || { tail -n 60 "$dir/build.log" >&2; die "the build failed"; }
  fi
  exec 9>&-
}
