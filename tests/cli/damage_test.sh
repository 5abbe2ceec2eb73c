#!/usr/bin/env bash
# Whatever happens to a file of a run, a command notices it, with exit code 2 and one line, or prints what it printed
# before. (tests/train/damage_test.cpp does the same without processes, and more of it.)
. "$(dirname "$0")/lib.sh"
RANDOM=${EDELTA_TEST_SEED:-1}
trials=${2:-6}  # flipped bytes a file
"$edelta" data stability --dim 4 --steps 6 --train 20 --val 10 --out "$work/data" >/dev/null
train() { "$edelta" train --model edelta --width 8 --layers 1 --data "$work/data" --batch 4 --iterations 20 --checkpoint-interval 10 --seed "$1" --out "$2" --quiet >/dev/null; }
train 1 "$work/run"
train 2 "$work/other"
commands=("eval RUN --json" "eval RUN --weights last --json" "rollout RUN --steps 3 --json" "inspect RUN --json"
  "norms RUN --json" "export RUN --out $work/model --force --json" "export RUN --weights last --out $work/model --force --json"
  "predict RUN --input $work/data/val_x.npy --out -" "compare RUN --json" "runs RUN --json" "train --resume RUN --json")
# What a command prints and writes, with the exit code in $code. Every command gets its own copy of the damaged run.
result() { # FOLDER COMMAND
  rm -rf "$work/copy" "$work/model"
  cp -r "$1" "$work/copy"
  code=0
  "$edelta" ${2//RUN/$work/copy} >"$work/stdout" 2>"$work/stderr" || code=$?
  sed '/"changed"/d' "$work/stdout" | sha256sum >"$work/sum"  # when the file was copied
  [ ! -f "$work/model" ] || sha256sum <"$work/model" >>"$work/sum"
}
declare -A expected
for command in "${commands[@]}"; do
  result "$work/run" "$command"
  [ "$code" = 0 ] || { cat "$work/stderr"; fail "$command"; }
  expected[$command]=$(cat "$work/sum")
done
noticed=0 harmless=0
check() { # WHAT: of the run in $work/damaged
  local command
  for command in "${commands[@]}"; do
    result "$work/damaged" "$command"
    if [ "$code" = 2 ]; then
      [ "$(wc -l <"$work/stderr")" = 1 ] || { cat "$work/stderr"; fail "$1, $command: not one line"; }
      noticed=$((noticed + 1))
    elif [ "$code" = 0 ] && [ "$(cat "$work/sum")" = "${expected[$command]}" ]; then
      harmless=$((harmless + 1))
    elif [ "$code" = 0 ] && [[ $command == runs* ]] && grep -q '"error"' "$work/stdout"; then
      noticed=$((noticed + 1))  # listed with the reason instead of numbers
    elif [ "$1" = "./result.json missing" ] && grep -q '"state": "stopped"' "$work/stdout"; then
      noticed=$((noticed + 1))  # a run that has not ended has no final loss
    else
      cat "$work/stderr"
      fail "$1, $command: exit $code"
    fi
  done
}
again() { rm -rf "$work/damaged"; cp -r "$work/run" "$work/damaged"; damaged=$work/damaged/$1; }
while read -r file; do
  size=$(stat -c %s "$work/run/$file")
  for trial in $(seq "$trials"); do
    again "$file"
    at=$(((RANDOM * 32768 + RANDOM) % size))
    byte=$(od -An -tu1 -j $at -N 1 "$damaged")
    printf "\\x$(printf %02x $((byte ^ (1 << RANDOM % 8))))" | dd of="$damaged" bs=1 seek=$at conv=notrunc 2>/dev/null
    check "$file, byte $at flipped"
  done
  again "$file"; : >"$damaged"; check "$file emptied"
  again "$file"; truncate -s $((size / 2)) "$damaged"; check "$file cut in half"
  again "$file"; rm "$damaged"; check "$file missing"
  again "$file"; cp "$work/other/$file" "$damaged"; check "$file of another run"
done < <(cd "$work/run" && find . -type f ! -name lock | sort)
echo "$noticed times noticed, $harmless times without effect"
