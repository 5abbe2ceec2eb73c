#!/usr/bin/env bash
# edelta bench --ranks measures one process against several, and projects from that.
. "$(dirname "$0")/lib.sh"
"$edelta" bench --ranks 2 --threads 2 --batch 4 --length 8 --width 16 --repetitions 1 --json >"$work/times"
grep -c '"step_s"' "$work/times" | grep -qx 2 || fail "not two measurements"
grep -q '"ranks": 2' "$work/times" || fail "nothing with two ranks"
# Three sizes, two networks, three numbers of machines.
grep -c '"efficiency": 0\.[0-9]' "$work/times" | grep -qx 18 || { cat "$work/times" >&2; fail "not 18 projections"; }
expect_exit 2 "$edelta" bench --ranks 2 --threads 3; one_line "--threads is 3; 2 ranks"
expect_exit 2 "$edelta" bench --ranks 2 --threads 2 --batch 3; one_line "batch is 3"
expect_exit 2 "$edelta" bench --ranks 2 --growth; one_line "--growth"
echo "ranks are measured"
