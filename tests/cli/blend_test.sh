#!/usr/bin/env bash
# The blends that stay orthogonal: their defaults, what they refuse, and that their runs are read back.
. "$(dirname "$0")/lib.sh"
tiny=(--task stability --dim 4 --steps 6 --train-size 20 --val-size 10 --width 16 --layers 1 --iterations 10 --quiet)
trained() { # NAME ARGUMENTS...: trains a run of this name
  local name=$1
  shift
  expect_exit 0 "$edelta" train "${tiny[@]}" "$@" --out "$work/$name"
}
has() { # NAME TEXT...: the run's configuration has each of these
  local name=$1 text
  shift
  for text in "$@"; do grep -qF -- "$text" "$work/$name/config.json" || fail "$name has no $text"; done
}
trained linear
has linear '"blend": "linear"' '"field": "real"' '"init_gate_bias": 0' '"gate_reg_weight": 0.1'
trained geodesic --blend geodesic
has geodesic '"init_gate_bias": 4' '"gate_reg_weight": 0.0'
trained own --blend geodesic --gate-weight 0.2 --init-gate-bias -1
has own '"init_gate_bias": -1' '"gate_reg_weight": 0.2'
trained complex --field complex --model edelta-stream --pool prefix
has complex '"blend": "geodesic"' '"init_gate_bias": 4'
for branch in cayley householder; do trained "$branch" --field complex --branch $branch; done
for name in geodesic complex cayley householder; do
  expect_exit 0 "$edelta" eval "$work/$name"
  expect_exit 0 "$edelta" inspect "$work/$name"
done
expect_exit 0 "$edelta" train --resume "$work/geodesic" --iterations 12 --quiet

refuse() { # TEXT ARGUMENTS...
  local text=$1
  shift
  expect_exit 2 "$edelta" train "${tiny[@]}" "$@" --out "$work/refused"; one_line "$text"
}
refuse "blend is linear; it must be geodesic" --field complex --blend linear
refuse "blend is hard; it must be geodesic" --field complex --blend hard
refuse "streams (n_streams) is 1; it must be even" --field complex --streams 1
refuse "streams (n_streams) is 1; it must be at least 2" --blend geodesic --streams 1
refuse "linear, hard, geodesic" --blend curved
refuse "--field" --field complex --model gpt

expect_exit 0 "$edelta" reflect --operators cayley,householder,geodesic,unitary --samples 8 --seeds 1 --iterations 5
for name in cayley householder geodesic unitary; do
  grep -q "^$name " "$work/stdout" || fail "reflect has no $name"
done
