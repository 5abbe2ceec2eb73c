#!/usr/bin/env bash
# Opens a report in a real browser, 1280 and 400 pixels wide: nothing on the console, nothing loaded,
# every table and figure of its results.json there and drawn, links that lead somewhere, no overflow.
#   browser_test.sh EDELTA             makes the report of the fixture, which must pass; spoilt copies must not
#   browser_test.sh PATH/report.html   checks that page, with the results.json beside it
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: ${0##*/} EDELTA | PATH/report.html" >&2; exit 2; }
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
command -v chromium >/dev/null || fail "chromium is missing; install chromium"

# check PAGE RESULTS: prints what the browser found; false unless all is well at both widths.
check() {
  local page=$1 results=$2
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
<iframe src="copy.html" style="width:400px;height:900px;border:0"></iframe>
<script>
addEventListener('message', ({data}) => {
  const problems = data.problems.map((text) => `PROBLEM at ${data.width} px: ${text}\n`).join('');
  document.getElementById('found').textContent +=
      `${problems}CHECKED at ${data.width} px: ${data.tables} tables, ${data.figures} figures, ${data.problems.length} problems\n`;
});
</script>
HTML
  # No name resolves, so that whatever the page asks the network for fails, and says so on the console.
  timeout 180 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
    --user-data-dir="$work/profile" --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr \
    --virtual-time-budget=20000 --window-size=1400,1000 --dump-dom "file://$work/frames.html" \
    >"$work/dom" 2>"$work/log" </dev/null || { cat "$work/log" >&2; return 1; }
  grep -E '^(<.*>)?(PROBLEM|CHECKED) at [0-9]' "$work/dom" | sed 's/^<.*>//' || true
  grep ':CONSOLE' "$work/log" && return 1
  ! grep -q 'PROBLEM at [0-9]' "$work/dom" && grep -q 'CHECKED at 1280 px' "$work/dom" &&
    grep -q 'CHECKED at 400 px' "$work/dom"
}

# must_reject NAME SED-SCRIPT: the page, spoilt by the script, does not pass.
must_reject() {
  sed -E "$2" "$work/page/report.html" >"$work/spoilt.html"
  ! cmp -s "$work/spoilt.html" "$work/page/report.html" || fail "the page could not be spoilt: $1"
  ! check "$work/spoilt.html" "$here/results.json" >"$work/found" || fail "the check lets pass: $1"
  echo "rejected: $1 ($(grep -m 1 -oE "PROBLEM.*|CONSOLE.*" "$work/found" | cut -c 1-90))"
}

case $1 in
  *.html)
    results=$(dirname "$1")/results.json
    [ -f "$1" ] || fail "there is no $1"
    [ -f "$results" ] || fail "there is no $results to compare the page with"
    check "$1" "$results" || fail "$1"
    ;;
  *)
    "$1" report "$here/results.json" --out "$work/page" >/dev/null
    check "$work/page/report.html" "$here/results.json" || fail "the fixture's report"
    must_reject "a figure that is not there" '0,/<figure /{s/<figure .*//}'
    must_reject "a picture that is none" '0,/<img src="[^"]{400}/{s/<img src="[^"]{400}/<img src="data:image\/svg+xml;base64,AAAA/}'
    must_reject "a lost row" '0,/^<tr><th scope="row"><span.*/{/^<tr><th scope="row"><span.*/d}'
    must_reject "a broken link" '0,/href="#table-/{s/href="#table-/href="#nowhere-/}'
    must_reject "something wide" 's#<footer>#<footer><div style="width:800px">wide</div>#'
    must_reject "a request" 's#</head>#<link rel="stylesheet" href="https://example.org/a.css"></head>#'
    must_reject "an error of a script" 's#</head>#<script>undefined_name()</script></head>#'
    ;;
esac
