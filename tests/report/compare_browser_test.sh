#!/usr/bin/env bash
# Opens the page of edelta compare in a real browser, at 1280 and 390 pixels, light and dark: nothing on the
# console, nothing loaded, all figures drawn, no column out of reach, no sideways scroll of the page.
#   compare_browser_test.sh EDELTA [FOLDER]   with a folder, pictures of the page are left there
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: ${0##*/} EDELTA [FOLDER]" >&2; exit 2; }
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
edelta=$1 pictures=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
command -v chromium >/dev/null || fail "chromium is missing; install chromium"

# browse COLOUR ARGUMENTS...: no name resolves, so that whatever the page asks the network for fails, and says
# so on the console.
browse() {
  local scheme=1
  if [ "$1" = dark ]; then scheme=0; fi
  shift
  timeout 180 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
    --user-data-dir="$work/profile" --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr \
    --blink-settings=preferredColorScheme=$scheme --virtual-time-budget=20000 "$@" 2>"$work/log" </dev/null
}

# check PAGE COLOUR: prints what the browser found; false unless all is well at both widths.
check() {
  { cat "$1"; printf '<script>\n'; cat "$here/check_layout.js"; printf '</script>\n'; } >"$work/copy.html"
  cat >"$work/frames.html" <<'HTML'
<!DOCTYPE html>
<meta charset="utf-8"><link rel="icon" href="data:,"><title>frames</title><pre id="found"></pre>
<iframe src="copy.html" style="width:1280px;height:900px;border:0"></iframe>
<iframe src="copy.html" style="width:390px;height:900px;border:0"></iframe>
<script>
addEventListener('message', ({data}) => {
  const problems = data.problems.map((text) => `PROBLEM at ${data.width} px: ${text}\n`).join('');
  document.getElementById('found').textContent +=
      `${problems}CHECKED at ${data.width} px, ${data.colour}: ${data.figures} figures\n`;
});
</script>
HTML
  browse "$2" --window-size=1400,1000 --dump-dom "file://$work/frames.html" >"$work/dom" || { cat "$work/log" >&2; return 1; }
  grep -E '^(<.*>)?(PROBLEM|CHECKED) at [0-9]' "$work/dom" | sed 's/^<.*>//' || true
  grep ':CONSOLE' "$work/log" && return 1
  ! grep -q 'PROBLEM at [0-9]' "$work/dom" && grep -q "CHECKED at 1280 px, $2: 3 figures" "$work/dom" &&
    grep -q "CHECKED at 390 px, $2: 3 figures" "$work/dom"
}

# must_reject NAME SED-SCRIPT: the page, spoilt by the script, does not pass.
must_reject() {
  sed -E "$2" "$page" >"$work/spoilt.html"
  ! cmp -s "$work/spoilt.html" "$page" || fail "the page could not be spoilt: $1"
  ! check "$work/spoilt.html" light >"$work/found" || fail "not noticed: $1"
}

train() { "$edelta" train --preset smoke --width 16 --iterations 60 --warmup 5 --eval-interval 10 "$@" >/dev/null 2>&1; }
train --model gpt --task stability --out "$work/gpt-on-stability"
train --model edelta --task stability --seed 7 --out "$work/a-run-with-a-rather-long-name-and-<b>&"
train --model edelta --task gyroscope --layers 3 --out "$work/edelta-on-gyroscope"
page=$work/page.html
"$edelta" compare "$work/gpt-on-stability" "$work/a-run-with"* "$work/edelta-on-gyroscope" --out "$page" >/dev/null

for colour in light dark; do
  check "$page" $colour || fail "the page in $colour"
  [ -n "$pictures" ] || continue
  mkdir -p "$pictures"
  for width in 1280 390; do
    # A window narrower than some 500 pixels does not exist; a frame does.
    printf '<!DOCTYPE html><body style="margin:0"><iframe src="page.html" style="width:%dpx;height:4400px;border:0"></iframe>' \
      $width >"$work/frame.html"
    browse $colour --hide-scrollbars --window-size=$((width > 500 ? width : 500)),4400 \
      --screenshot="$pictures/compare-$width-$colour.png" "file://$work/frame.html" >/dev/null
  done
done
must_reject "something wide" 's#</main>#<div style="width:1400px">wide</div></main>#'
must_reject "a picture that is none" '0,/<img src="[^"]{400}/{s/<img src="[^"]{400}/<img src="data:image\/svg+xml;base64,AAAA/}'
must_reject "a request" 's#</head>#<link rel="stylesheet" href="https://example.org/a.css"></head>#'
must_reject "a clipped column" 's#</head>#<style>table { min-width: 1500px; } .scroll { overflow: hidden; }</style></head>#'
