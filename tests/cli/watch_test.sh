#!/usr/bin/env bash
# The page of runs that go on: served to this machine alone, renewed, ended by signals.
. "$(dirname "$0")/lib.sh"
pid=
trap 'kill $pid 2>/dev/null || true; rm -rf "$work"' EXIT
"$edelta" train --model gpt --task stability --preset smoke --width 16 --iterations 20 --warmup 5 --out "$work/run" >/dev/null 2>&1

# start: serves the run; sets $pid and $port.
start() {
  rm -f "$work/address"
  # A script's background job ignores SIGINT from the start, unless it is told not to.
  env --default-signal=INT "$edelta" watch "$work/run" "$@" >"$work/address" 2>"$work/stderr" &
  pid=$!
  for _ in $(seq 300); do [ -s "$work/address" ] || sleep 0.1; done
  port=$(sed -n 's#^http://127.0.0.1:\([0-9]*\)/ .*#\1#p' "$work/address")
  [ -n "$port" ] || { cat "$work/stderr" >&2; fail "no address"; }
}
# ask FIRST-LINE HEADER: the answer goes to $work/answer.
ask() {
  exec 8<>"/dev/tcp/127.0.0.1/$port"
  printf '%s\r\n%s\r\n\r\n' "$1" "$2" >&8
  cat <&8 >"$work/answer"
  exec 8>&-
}
answers() { # answers STATUS FIRST-LINE HEADER
  ask "$2" "$3"
  [[ $(head -n 1 "$work/answer") == "HTTP/1.1 $1 "* ]] || fail "$2, $3: $(head -n 1 "$work/answer")"
}

start
answers 200 "GET / HTTP/1.1" "Host: localhost:$port"
grep -q '<th scope="row">.*run</th>' "$work/answer" || fail "the run is not on the page"
grep -q ">finished<" "$work/answer" || fail "its state is not on the page"
grep -q "Content-Security-Policy: default-src 'none'" "$work/answer" || fail "no policy"
answers 403 "GET / HTTP/1.1" "Host: example.org"
answers 400 "GET / HTTP/1.1" "Accept: */*"
answers 404 "GET /config.json HTTP/1.1" "Host: localhost"
answers 405 "POST / HTTP/1.1" "Host: localhost"

# Nobody else's address.
hex=$(printf %04X "$port")
awk -v port="$hex" '$2 ~ ":" port "$" && $4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6 >"$work/listening"
[ "$(cat "$work/listening")" = "0100007F:$hex" ] || fail "listens on $(cat "$work/listening")"

# It follows the run, and outlives one that is not readable for a while.
rm "$work/run/result.json"
answers 200 "GET / HTTP/1.1" "Host: 127.0.0.1:$port"
grep -q ">stopped<" "$work/answer" || fail "the page does not follow the run"
mv "$work/run/config.json" "$work/config.json"
answers 500 "GET / HTTP/1.1" "Host: localhost"
grep -q "no run is there" "$work/answer" || fail "no reason"
mv "$work/config.json" "$work/run/config.json"
answers 200 "GET / HTTP/1.1" "Host: localhost"

# One that says nothing holds up nobody.
exec 7<>"/dev/tcp/127.0.0.1/$port"
answers 200 "GET / HTTP/1.1" "Host: localhost"
exec 7>&-

expect_exit 2 "$edelta" watch "$work/run" --port "$port"
grep -q "$port" "$work/stderr" || fail "the port is not named"
expect_exit 2 "$edelta" watch "$work/nowhere"
kill -INT $pid
code=0
wait $pid || code=$?
[ "$code" = 130 ] || fail "exit $code on SIGINT"
start --port "$port"
kill -TERM $pid
code=0
wait $pid || code=$?
[ "$code" = 143 ] || fail "exit $code on SIGTERM"
echo "runs are watched"
