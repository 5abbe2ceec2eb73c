#!/usr/bin/env bash
# Runs side by side: table, curves and page, whatever the runs are called.
. "$(dirname "$0")/lib.sh"
train() { "$edelta" train --preset smoke --width 16 --iterations 40 --warmup 5 --eval-interval 10 "$@" >/dev/null 2>&1; }
odd="$work/<i>&'\"\`x"
train --model gpt --task stability --out "$work/gpt"
train --model edelta --task stability --seed 7 --out "$odd"
train --model gpt --task gyroscope --out "$work/other"

expect_exit 0 "$edelta" compare "$work/gpt" "$odd"
grep -q "^gpt .*gpt .*stability .*40 " "$work/stdout" || { cat "$work/stdout"; fail "no row"; }
grep -qF "a gpt" "$work/stdout" && grep -qF "b <i>&'\"\`x" "$work/stdout" || fail "no legend"
LC_ALL=C grep -q $'\xe2[\xa0-\xa3]' "$work/stdout" || fail "no curves"
! grep -q "different data" "$work/stdout" || fail "the data is the same"
[ "$(wc -L <"$work/stdout")" -le 80 ] || fail "wider than 80"
! grep -q $'\033' "$work/stdout" || fail "colours in a file"

expect_exit 0 "$edelta" compare "$work/gpt" "$work/other" --json
grep -q "different data" "$work/stdout" || fail "no word on the data"
grep -q '"task": \[' "$work/stdout" || fail "the task does not differ"

page=$work/page.html
expect_exit 0 "$edelta" compare "$work/gpt" "$odd" "$work/other" --out "$page" --title 'A & <b>B</b>'
grep -qF '<h1>A &amp; &lt;b&gt;B&lt;/b&gt;</h1>' "$page" || fail "the title is not escaped"
grep -qF '&lt;i&gt;&amp;&#39;&quot;`x' "$page" || fail "the name is not escaped"
! grep -qF '<i>' "$page" || fail "a name became an element"
! grep -q '<script' "$page" || fail "a script in a page that does not change"
grep -q "different data" "$page" || fail "no word on the data"
[ "$(grep -c '<figure' "$page")" = 3 ] || fail "not three figures"
grep -q 'train.seed' "$page" || fail "no differing setting"
expect_exit 2 "$edelta" compare "$work/gpt" --out "$page"
grep -q -- --force "$work/stderr" || fail "no word on --force"
expect_exit 0 "$edelta" compare "$work/gpt" --out "$page" --force

# A run that has only begun, and what is none.
mkdir "$work/begun"
cp "$work/gpt/config.json" "$work/begun"
expect_exit 0 "$edelta" compare "$work/begun" "$work/gpt" --out "$page" --force
expect_exit 0 "$edelta" compare "$work/begun"
expect_exit 2 "$edelta" compare "$work/nowhere"
expect_exit 2 "$edelta" compare "$work/gpt" "$work/gpt/."
grep -q twice "$work/stderr" || fail "a run beside itself"
expect_exit 2 "$edelta" compare
echo "runs are compared"
