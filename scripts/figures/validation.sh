#!/usr/bin/env bash
# Draws validation loss against iteration, one curve a run folder.
#   scripts/figures/validation.sh              trains the six architectures with the smoke preset on the
#                                              stability task (seed 42, one thread) into runs/validation/,
#                                              passing over finished runs, and draws docs/figures/validation.svg
#   scripts/figures/validation.sh SVG RUN...   draws the given run folders, named by their last part
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

if [ $# -eq 1 ]; then
  echo "usage: ${0##*/} [SVG RUN...]" >&2
  exit 2
fi
svg=${1:-docs/figures/validation.svg}
runs=("${@:2}")
if [ $# -eq 0 ]; then
  for model in gpt ddl mhc jpmhc edelta edelta-stream; do
    run=runs/validation/$model
    runs+=("$run")
    [ -f "$run/result.json" ] && continue
    if [ -f "$run/config.json" ]; then
      ./edelta train --resume "$run" --threads 1
    else
      ./edelta train --model "$model" --task stability --preset smoke --seed 42 --threads 1 --out "$run"
    fi
  done
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The Okabe-Ito colours, which stay apart for colour-blind readers; dashes and marks tell the curves
# apart without any colour.
colours=('#000000' '#E69F00' '#56B4E9' '#009E73' '#D55E00' '#CC79A7' '#0072B2')
dashes=('1' '(12,4)' '(3,4)' '(12,4,3,4)' '(24,5)' '(6,4)' '(12,4,3,4,3,4)')
marks=(4 6 8 10 7 12 5)
curves=()
for i in "${!runs[@]}"; do
  data=$work/$i
  # Of metrics.jsonl only the lines with a validation loss, as two columns.
  sed -nE 's/^\{"iteration":([0-9]+),"val_loss":([-+.0-9e]+).*/\1 \2/p' "${runs[i]}/metrics.jsonl" >"$data"
  [ -s "$data" ] || { echo "${runs[i]}: no validation loss in metrics.jsonl" >&2; exit 1; }
  style=$((i % ${#colours[@]}))
  curves+=("'$data' using 1:2 with linespoints linewidth 2 linecolor rgb '${colours[style]}' dashtype ${dashes[style]} \
pointtype ${marks[style]} pointsize 0.6 pointinterval 2 title '$(basename "${runs[i]}")'")
done
plot=$(printf '%s, ' "${curves[@]}")

gnuplot <<GNUPLOT
set terminal svg size 860,460 font 'Helvetica,Arial,sans-serif,15' background rgb 'white'
set output '$work/figure.svg'
set logscale y
set format y '10^{%T}'
set xlabel 'iteration'
set ylabel 'validation loss (mean squared error)'
set border 3
set tics nomirror out
set grid ytics linecolor rgb '#dddddd' linewidth 1 dashtype 1
set key outside right center Left reverse noenhanced samplen 5 spacing 1.4
plot ${plot%, }
GNUPLOT
mkdir -p "$(dirname "$svg")"
mv "$work/figure.svg" "$svg"
echo "wrote $svg"
