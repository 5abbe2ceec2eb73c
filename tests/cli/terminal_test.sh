#!/usr/bin/env bash
# Progress on a real terminal, wide and narrow: one line, rewritten, that never wraps.
. "$(dirname "$0")/lib.sh"
if ! command -v tmux >/dev/null; then
  echo "skipped: tmux is not installed"
  exit 0
fi
export TMUX_TMPDIR=$work LC_ALL=C.UTF-8
unset TMUX
screen() { tmux -u -f /dev/null -L edelta "$@"; }
trap 'screen kill-server 2>/dev/null || true; rm -rf "$work"' EXIT

# At most one line of progress, and nothing below it.
check_screen() {
  screen capture-pane -p -t run >"$work/screen"
  local rows below
  rows=$(grep -c '[0-9]/60' "$work/screen" || true)
  [ "$rows" -le 1 ] || { cat "$work/screen"; fail "$rows lines of progress at $columns columns"; }
  below=$(sed '1,/[0-9]\/60/d' "$work/screen" | tr -d '[:space:]')
  [ -z "$below" ] || { cat "$work/screen"; fail "the line wraps at $columns columns"; }
}

start() { # start COLUMNS: a training in a window that wide
  screen new-session -d -s run -x "$1" -y 24 "'$edelta' train --model edelta --task stability --preset smoke \
    --iterations 60 --warmup 5 --threads 1 --out '$work/run' >'$work/result'; echo \$? >'$work/code'; sleep 100"
}
stop() {
  screen kill-session -t run
  rm -r "$work/code" "$work/run"
}

for columns in 80 20; do
  start $columns
  for wait in $(seq 600); do
    [ ! -s "$work/code" ] || break
    check_screen
    sleep 0.1
  done
  [ "$(cat "$work/code")" = 0 ] || fail "the training failed at $columns columns"
  check_screen
  case $columns in
    80) parts='loss [0-9.e+-]+  val [0-9.e+-]+  0:00 left  γ [0-9.]+ \[[0-9.]+, [0-9.]+\]' ;;
    20) parts='0:00 left$' ;; # what fits beside the iteration
  esac
  grep -qE "^60/60  $parts" "$work/screen" || { cat "$work/screen"; fail "parts are missing at $columns columns"; }
  stop
done

# A window that becomes narrower wraps the line; the next one takes its place.
columns=40
start 80
for wait in $(seq 600); do
  screen capture-pane -p -t run | grep -q '[0-9]/60' && break
  sleep 0.1
done
screen resize-window -t run -x $columns -y 24
for wait in $(seq 600); do
  [ ! -s "$work/code" ] || break
  sleep 0.1
done
check_screen
grep -qE '^60/60  loss [0-9.e+-]+  val [0-9.e+-]+$' "$work/screen" || { cat "$work/screen"; fail "not one line after the change"; }
stop
echo "progress is one line at 80 and at 20 columns, and when the window changes"
