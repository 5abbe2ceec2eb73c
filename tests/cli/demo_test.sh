#!/usr/bin/env bash
# The demo ends with its numbers and says where its page is; the page stands up to a browser.
. "$(dirname "$0")/lib.sh"
expect_exit 0 "$edelta" demo --out "$work/demo"
says() { grep -qE -- "$1" "$work/stdout" || { cat "$work/stdout" >&2; fail "the demo does not say: $1"; }; }
says '54 of 54 statements hold'
says '^hybrid +−0\.[0-9]+ '
for model in gpt ddl mhc jpmhc edelta; do says "^$model +[0-9.]+ +[1-5] +[0-9,]+$"; done
says "$work/demo/report.html"
! grep -qE 'not run|partly run' <(sed -n '/id="summary"/,/<\/section>/p' "$work/demo/report.html") ||
  fail "the summary has what is no part of the demo"
"$(dirname "$0")/../report/browser_test.sh" "$work/demo/report.html"

# Called again it shows what is there.
cp "$work/stdout" "$work/first"
expect_exit 0 "$edelta" demo --out "$work/demo"
cmp "$work/first" "$work/stdout" || fail "the second call says something else"
