#!/usr/bin/env bash
# A run knows its data: it is found from anywhere, and other data in its place is refused.
. "$(dirname "$0")/lib.sh"
make_data() { "$edelta" data stability --dim 4 --steps 6 --train-size 20 --val-size 10 --task-seed "$2" --out "$1" >/dev/null; }
mkdir "$work/here" "$work/there"
make_data "$work/here/data" 1
make_data "$work/there/data" 2
(cd "$work/here" && "$edelta" train --model gpt --width 8 --data data --iterations 30 --checkpoint-interval 10 --out run --quiet >/dev/null)
loss() { sed -n 's/.*"loss": //p' "$work/stdout"; }
expect_exit 0 "$edelta" eval "$work/here/run" --json
expected=$(loss)

# From a folder that has other data under the same name.
cd "$work/there"
expect_exit 0 "$edelta" eval "$work/here/run" --json
[ "$(loss)" = "$expected" ] || fail "other data was evaluated"

# Other data in its place, and the data in another place.
mv "$work/here/data" "$work/moved"
expect_exit 2 "$edelta" eval "$work/here/run"; one_line "--data"
expect_exit 2 "$edelta" rollout "$work/here/run" --steps 2; one_line "--data"
cp -r "$work/there/data" "$work/here/data"
expect_exit 2 "$edelta" eval "$work/here/run"; one_line "is not what the run was trained on"
rm "$work/here/run/result.json"
expect_exit 2 "$edelta" train --resume "$work/here/run"; one_line "is not what the run was trained on"
expect_exit 2 "$edelta" train --resume "$work/here/run" --data "$work/there/data"; one_line "is not what the run was trained on"
expect_exit 0 "$edelta" train --resume "$work/here/run" --data "$work/moved"
expect_exit 0 "$edelta" eval "$work/here/run" --data "$work/moved" --json
[ "$(loss)" = "$expected" ] || fail "the moved data is the same data"
expect_exit 0 "$edelta" rollout "$work/here/run" --data "$work/moved" --steps 2
# eval may be asked for other data, by name.
expect_exit 0 "$edelta" eval "$work/here/run" --data "$work/there/data" --json
[ "$(loss)" != "$expected" ] || fail "the other data was not evaluated"
echo "a run knows its data"
