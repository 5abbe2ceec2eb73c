#!/usr/bin/env bash
# Bad input gives one clear line and exit code 2, failures exit code 1, and nothing is lost.
. "$(dirname "$0")/lib.sh"

expect_exit 2 "$edelta"
expect_exit 2 "$edelta" trian
expect_exit 2 "$edelta" train --nonsense 3; one_line --nonsense
expect_exit 2 "$edelta" train --task walking --out "$work/x"; one_line walking
expect_exit 2 "$edelta" train --task stability --model lstm --out "$work/x"; one_line lstm
expect_exit 2 "$edelta" train --task stability --width 130 --heads 1 --out "$work/x"; one_line n_streams
expect_exit 2 "$edelta" train --task near-pi --theta 3.2 --out "$work/x"; one_line theta
expect_exit 2 "$edelta" train --task stability --lr fast --out "$work/x"; one_line lr
expect_exit 2 "$edelta" train --out "$work/x"; one_line task
expect_exit 2 "$edelta" train --resume "$work/nowhere"
expect_exit 2 "$edelta" train --data "$work/nowhere" --out "$work/x"
expect_exit 2 "$edelta" data near-pi-multi --dim 7 --out "$work/x"; one_line dim
expect_exit 2 "$edelta" eval "$work/nowhere"; one_line config.json
expect_exit 2 "$edelta" parity "$work/nowhere"
echo '{"model": "gpt", "task": "stability", "color": 3}' >"$work/config.json"
expect_exit 2 "$edelta" train --config "$work/config.json" --out "$work/x"; one_line color
[ ! -e "$work/x" ] || fail "a refused run left a folder"

# A run on a user's own data, from a configuration file; flags win.
"$edelta" data stability --dim 6 --steps 8 --train 40 --val 10 --out "$work/data" >/dev/null
echo '{"preset": "smoke", "model": {"model": "gpt", "n_embd": 16}, "train": {"iterations": 30}}' >"$work/config.json"
"$edelta" train --config "$work/config.json" --data "$work/data" --iterations 40 --out "$work/run" --json >"$work/result" 2>/dev/null
grep -q '"iterations": 40' "$work/result" || fail "the flag did not win"
expect_exit 2 "$edelta" train --config "$work/config.json" --data "$work/data" --out "$work/run"; one_line "already there"
expect_exit 0 "$edelta" eval "$work/run" --json
expect_exit 0 "$edelta" rollout "$work/run" --steps 20 --context 4 --json
expect_exit 0 "$edelta" norms "$work/run" --positions 8 --json
expect_exit 2 "$edelta" inspect "$work/run"; one_line gpt

# A diverging run stops with the iteration and keeps its checkpoint.
expect_exit 1 "$edelta" train --model gpt --task stability --preset smoke --lr 1e30 --min-lr 1e30 --warmup 0 \
  --grad-clip 0 --checkpoint-interval 1 --out "$work/diverged"
grep -q "iteration" "$work/stderr" || fail "no iteration"
[ -f "$work/diverged/checkpoint/checkpoint.safetensors" ] || fail "no checkpoint kept"

# A damaged checkpoint is refused.
"$edelta" train --model gpt --task stability --preset smoke --iterations 20 --warmup 5 --out "$work/damaged" >/dev/null 2>&1
rm "$work/damaged/result.json"
printf 'x' | dd of="$work/damaged/checkpoint/checkpoint.safetensors" bs=1 seek=200000 conv=notrunc 2>/dev/null
expect_exit 2 "$edelta" train --resume "$work/damaged"
grep -q checksum "$work/stderr" || { cat "$work/stderr"; fail "damage not noticed"; }

# A full disk stops the run with one line, the last checkpoint intact. (Needs the right to mount.)
mkdir "$work/small"
if mount -t tmpfs -o size=6m tmpfs "$work/small" 2>/dev/null; then
  trap 'umount "$work/small"; rm -rf "$work"' EXIT
  code=0
  "$edelta" train --model gpt --task stability --preset smoke --checkpoint-interval 10 --eval-interval 10 \
    --out "$work/small/run" >/dev/null 2>"$work/stderr" &
  for wait in $(seq 600); do [ -f "$work/small/run/checkpoint/checkpoint.safetensors" ] || sleep 0.05; done
  head -c 6m /dev/zero >"$work/small/filler" 2>/dev/null || true
  wait $! || code=$?
  [ "$code" = 1 ] || { cat "$work/stderr"; fail "exit $code on a full disk"; }
  grep -q "No space left" "$work/stderr" || { cat "$work/stderr"; fail "no word on the full disk"; }
  rm "$work/small/filler"
  [ "$(ls "$work/small/run/checkpoint" "$work/small/run/best" | grep -c safetensors)" = 2 ] || fail "a temporary file is left"
  expect_exit 0 "$edelta" train --resume "$work/small/run"
else
  echo "skipped: a full disk (no right to mount)"
fi
echo "failures are reported and lose nothing"
