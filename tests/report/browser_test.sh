#!/usr/bin/env bash
# Opens a report in a real browser, 1280, 800 and 390 pixels wide, light and dark: nothing on the
# console, nothing loaded, every table and figure of its results.json there, drawn and in the colours of
# the page, links that lead somewhere, nothing clipped, no scrolling sideways.
#   browser_test.sh EDELTA             makes the report of the fixture, which must pass; spoilt copies must not
#   browser_test.sh PATH/report.html   checks that page, with the results.json beside it
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: ${0##*/} EDELTA | PATH/report.html" >&2; exit 2; }
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
command -v chromium >/dev/null || fail "chromium is missing; install chromium"

# check PAGE RESULTS light|dark: prints what the browser found; false unless all is well at every width.
check() {
  local page=$1 results=$2 scheme=$3 width
  {
    cat "$page"
    printf '<script>const RESULTS = '
    sed 's#</#<\\/#g' "$results"
    printf ';\n'
    cat "$here/check_page.js"
    printf '</script>\n'
  } >"$work/copy.html"
  cat >"$work/frames.html" <<'HTML'
<!DOCTYPE html>
<meta charset="utf-8"><link rel="icon" href="data:,"><title>frames</title><pre id="found"></pre>
<iframe src="copy.html" style="width:1280px;height:900px;border:0"></iframe>
<iframe src="copy.html" style="width:800px;height:900px;border:0"></iframe>
<iframe src="copy.html" style="width:390px;height:900px;border:0"></iframe>
<script>
addEventListener('message', ({data}) => {
  const problems = data.problems.map((text) => `PROBLEM at ${data.width} px, ${data.scheme}: ${text}\n`).join('');
  document.getElementById('found').textContent +=
      `${problems}CHECKED at ${data.width} px, ${data.scheme}: ${data.tables} tables, ${data.figures} figures, ${data.problems.length} problems\n`;
});
</script>
HTML
  # No name resolves, so that whatever the page asks the network for fails, and says so on the console.
  timeout 180 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
    --user-data-dir="$work/profile" --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr \
    --blink-settings="preferredColorScheme=$([ "$scheme" = dark ] && echo 0 || echo 1)" --virtual-time-budget=20000 --window-size=1400,1000 --dump-dom "file://$work/frames.html" \
    >"$work/dom" 2>"$work/log" </dev/null || { cat "$work/log" >&2; return 1; }
  grep -E '^(<.*>)?(PROBLEM|CHECKED) at [0-9]' "$work/dom" | sed 's/^<.*>//' || true
  grep ':CONSOLE' "$work/log" && return 1
  ! grep -q 'PROBLEM at [0-9]' "$work/dom" || return 1
  for width in 1280 800 390; do
    grep -q "CHECKED at $width px, $scheme" "$work/dom" || return 1
  done
}

# must_reject NAME SED-SCRIPT [SCHEME]: the page, spoilt by the script, does not pass.
must_reject() {
  sed -E "$2" "$work/page/report.html" >"$work/spoilt.html"
  ! cmp -s "$work/spoilt.html" "$work/page/report.html" || fail "the page could not be spoilt: $1"
  ! check "$work/spoilt.html" "$here/results.json" "${3:-light}" >"$work/found" || fail "the check lets pass: $1"
  echo "rejected: $1 ($(grep -m 1 -oE "PROBLEM.*|CONSOLE.*" "$work/found" | cut -c 1-90))"
}

# A picture that is white in the dark, too.
white="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='360' height='200'%3E%3Crect width='360' height='200' fill='white'/%3E%3C/svg%3E"
case $1 in
  *.html)
    results=$(dirname "$1")/results.json
    [ -f "$1" ] || fail "there is no $1"
    [ -f "$results" ] || fail "there is no $results to compare the page with"
    for scheme in light dark; do check "$1" "$results" $scheme || fail "$1, $scheme"; done
    ;;
  *)
    "$1" report "$here/results.json" --out "$work/page" >/dev/null
    for scheme in light dark; do
      check "$work/page/report.html" "$here/results.json" $scheme || fail "the fixture's report, $scheme"
    done
    must_reject "a figure that is not there" '0,/<figure /{s/<figure .*//}'
    must_reject "a picture that is none" '0,/<img src="[^"]{400}/{s/<img src="[^"]{400}/<img src="data:image\/svg+xml;base64,AAAA/}'
    must_reject "a lost row" '0,/^<tr><th scope="row"><span.*/{/^<tr><th scope="row"><span.*/d}'
    must_reject "a broken link" '0,/href="#table-/{s/href="#table-/href="#nowhere-/}'
    must_reject "something wide" 's#<footer>#<footer><div style="width:800px">wide</div>#'
    must_reject "a clipped column" 's#</head>#<style>table { min-width: 1500px; }</style></head>#'
    must_reject "a hidden reason" 's#</head>#<style>\#summary td:last-child { display: none; }</style></head>#'
    must_reject "a light figure in the dark" "0,/<picture>/{s#<source [^>]*>##;s#<img src=\"[^\"]*\"#<img src=\"$white\"#}" dark
    must_reject "a request" 's#</head>#<link rel="stylesheet" href="https://example.org/a.css"></head>#'
    must_reject "an error of a script" 's#</head>#<script>undefined_name()</script></head>#'
    ;;
esac
