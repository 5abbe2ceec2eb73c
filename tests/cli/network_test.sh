#!/usr/bin/env bash
# Two ranks on two machines, as far as network namespaces are: 1 Gbit/s between them and 1 % of the packets lost. They
# train, and when the link goes down both end with a word on who is missing.
. "$(dirname "$0")/ranks_lib.sh"
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "namespaces need root"
for program in ip tc nft; do command -v $program >/dev/null || skip "there is no $program"; done
a=edelta-a-$$ b=edelta-b-$$
trap 'ip netns del $a 2>/dev/null; ip netns del $b 2>/dev/null; rm -rf "$work"' EXIT
ip netns add $a 2>/dev/null && ip netns add $b || skip "no network namespaces can be made"
ip link add name ea$$ netns $a type veth peer name eb$$ netns $b || skip "no veth pair can be made"
connect() { # NAMESPACE INTERFACE ADDRESS
  ip -n "$1" address add "$3/24" dev "$2"
  ip -n "$1" link set "$2" up
  ip -n "$1" link set lo up
  ip netns exec "$1" tc qdisc add dev "$2" root tbf rate 1gbit burst 256kb latency 50ms || skip "no tc qdisc tbf"
  ip netns exec "$1" nft "add table inet loss; add chain inet loss in { type filter hook input priority 0; };
    add rule inet loss in iifname $2 numgen random mod 100 == 0 drop" || skip "nft cannot lose packets"
}
connect $a ea$$ 10.77.0.1
connect $b eb$$ 10.77.0.2

export MASTER_ADDR=10.77.0.1 MASTER_PORT=29400
train_between() { # ARGUMENTS...: rank 0 in one namespace, rank 1 in the other
  WORLD_SIZE=2 RANK=0 ip netns exec $a "$edelta" train "$@" >"$work/rank.0" 2>&1 & pids=($!)
  WORLD_SIZE=2 RANK=1 ip netns exec $b "$edelta" train "$@" >"$work/rank.1" 2>&1 & pids+=($!)
}
# Enough parameters for packets to be lost, and for several buckets.
settings=(--model gpt --task gyroscope --dim 8 --steps 16 --width 192 --layers 3 --heads 4 --batch 8 --train-size 32
  --val-size 16 --log-interval 1 --warmup 2 --quiet)
"$edelta" train "${settings[@]}" --iterations 50 --out "$work/one" >/dev/null
train_between "${settings[@]}" --iterations 50 --out "$work/two"
ends_with 0 0
ends_with 1 0
# Weights that fit 32 sequences by heart make more of the last bits than those of the test on one machine.
close_runs "$work/one" "$work/two" 1e-5
ip netns exec $a tc -s qdisc show dev ea$$ | grep -q "Sent [1-9]" || fail "nothing went over the link"

train_between "${settings[@]}" --iterations 1000000 --checkpoint-interval 5 --out "$work/down" --timeout 4
wait_for_iteration "$work/down" 6
ip -n $a link set ea$$ down
ends_with 0 1; says 0 "rank 1 on $(hostname)"
ends_with 1 1; says 1 "rank 0 on $(hostname)"
"$edelta" eval "$work/down" --weights last >/dev/null || fail "the checkpoint is not whole"
echo "ranks train over a poor network, and end where it does"
