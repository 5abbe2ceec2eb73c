#!/usr/bin/env bash
# Text becomes a token folder, whole or not at all; what cannot be encoded is refused by name and offset.
. "$(dirname "$0")/lib.sh"
cd "$work"
text() { expect_exit 0 "$edelta" text "$@"; }
field() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$2" | head -1; }
tokens() { od -An -v -tu2 -w2 "$1" | tr -d ' ' | tr '\n' ' '; }
printf 'hello wörld, hello' >a.txt # 19 bytes, 18 characters

text a.txt --out bytes
[ "$(field tokenizer bytes/text.json)" = bytes ] || fail "bytes is the default"
[ "$(tokens bytes/val.bin)" = "108 111 " ] || fail "the last tenth: $(tokens bytes/val.bin)"
[ "$(stat -c %s bytes/train.bin)" = 34 ] || fail "17 tokens of two bytes"
grep -q '17 training and 2 validation tokens, vocabulary 256' stdout || { cat stdout; fail "the summary"; }

# By characters the split is one of characters; they are numbered by code point.
text a.txt --tokenizer chars --val 0.5 --out chars --json
[ "$(field vocab_size chars/text.json)" = 10 ] && grep -q '"folder": "chars"' stdout || fail "chars"
[ "$(tokens chars/train.bin)" = "4 3 5 5 6 0 8 9 7 " ] || fail "chars: $(tokens chars/train.bin)"
# The same characters for another text, as long as it has no other ones.
printf 'öw olleh' >reversed.txt
text reversed.txt --tokenizer-from chars --val 0.5 --out as_before
cmp chars/tokenizer.json as_before/tokenizer.json || fail "another tokenizer"
printf 'Q' >>reversed.txt
expect_exit 2 "$edelta" text reversed.txt --tokenizer-from chars --out none
one_line 'has no "Q"'
printf 'ab\377c' >bad.txt
expect_exit 2 "$edelta" text a.txt bad.txt --tokenizer chars --out none; one_line "bad.txt: byte 2 is 0xff"

# By byte pairs; the tokenizer of one folder encodes for another.
head -c 20000 < <(yes 'the cat and the dog') >b.txt
text b.txt --tokenizer bpe --vocab 262 --out bpe
[ "$(field vocab_size bpe/text.json)" = 262 ] || fail "the vocabulary"
[ "$(stat -c %s bpe/train.bin)" -lt 30000 ] || fail "nothing was merged"
text b.txt --tokenizer-from bpe --out again
cmp bpe/train.bin again/train.bin && cmp bpe/tokenizer.json again/tokenizer.json || fail "the same tokenizer"
text b.txt bad.txt --vocab 260 --out any
text b.txt --vocab 300 --out less; one_line "no further pair occurs twice"

# Folders in order, without what is hidden; standard input.
mkdir -p books/2 && printf 'one ' >books/1.txt && printf 'two ' >books/2/x && printf 'three' >books/3 && printf no >books/.no
text books --val 0.2 --out of_books
printf 'one two three' | text - --val 0.2 --out of_stream
cmp of_books/train.bin of_stream/train.bin && cmp of_books/val.bin of_stream/val.bin || fail "not one text"
[ "$(ls of_stream | tr '\n' ' ')" = "text.json tokenizer.json train.bin val.bin " ] || fail "more is left"

refuse() { # TEXT ARGUMENTS...
  local text=$1
  shift
  expect_exit 2 "$edelta" text "$@"; one_line "$text"
}
: >empty.txt; mkdir void
refuse "the text is empty" empty.txt --out none
refuse "there is no file in it" void --out none
refuse "nowhere" nowhere --out none
refuse "too short" bad.txt --out none
refuse "between 0 and 1" a.txt --val 1 --out none
refuse "bytes, chars, bpe" a.txt --tokenizer words --out none
refuse "--vocab is for the tokenizer bpe" a.txt --tokenizer chars --vocab 300 --out none
refuse "--vocab" a.txt --vocab 10 --out none
refuse "kind chars" a.txt --tokenizer bpe --tokenizer-from chars --out none
refuse "--vocab" a.txt --tokenizer-from bpe --vocab 300 --out none
refuse "neither tokenizer.json nor vocab.bpe" a.txt --tokenizer-from void --out none
refuse "--force" a.txt --out bytes
mkfifo pipe
refuse "not a regular file" pipe --out none
[ ! -e none ] || fail "something is left of what was refused"
text a.txt --tokenizer chars --out bytes --force
touch bytes/mine
refuse "mine" a.txt --out bytes --force

# Stopped, it leaves nothing behind: while it waits, and while it works.
mkfifo slow
"$edelta" text - --out stopped <slow &
exec 8>slow
for wait in $(seq 600); do ls | grep -q stopped && break || sleep 0.02; done
kill -INT $!; code=0; wait $! || code=$?
exec 8>&-
[ "$code" = 130 ] || fail "exit $code after an interrupt"
[ -z "$(ls -d stopped* 2>/dev/null)" ] || fail "left behind: $(ls -d stopped*)"
echo "text becomes tokens"
