#!/usr/bin/env bash
# The completion scripts know every command, its options and their values.
. "$(dirname "$0")/lib.sh"
for shell in bash zsh fish; do "$edelta" completion $shell >"$work/$shell"; done
. "$work/bash"
complete -p edelta | grep -q _edelta || fail "nothing completes edelta"

# completes WORD... : CANDIDATE...: what bash offers for the last word, sorted.
completes() {
  COMP_WORDS=(edelta)
  while [ "$1" != : ]; do COMP_WORDS+=("$1"); shift; done
  shift
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _edelta || true # compopt works only while bash completes
  local offered expected
  offered=$(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ')
  expected=$(printf '%s\n' "$@" | sort | tr '\n' ' ')
  [ "$offered" = "$expected" ] || fail "${COMP_WORDS[*]}: '$offered' instead of '$expected'"
}

completes tr : train
completes re : reflect report reproduce
completes train --iter : --iterations
completes train --model ed : edelta edelta-stream
completes train --model tr : transformer trm trm-hier6 trm-single
completes train --mixer '' : edelta jpmhc none
completes train --model = ed : edelta edelta-stream # as bash takes --model=ed apart
completes train --preset '' : best chars gpt2 maze paper quick smoke sudoku4 sudoku6 trm
completes reproduce --preset de : demo
completes depth --preset s : smoke
completes depth --task re : reversal
completes eval --split '' : train val
completes bench --models gpt,j : gpt,jpmhc
completes train --lr 1 :
completes train --det : --deterministic-reduction
completes reproduce --launcher '' : local slurm
completes bench --as :
completes data gyro : gyroscope
completes text --tokenizer b : bpe bytes
completes puzzles m : maze
completes puzzles --sample '' : drawn published
completes train --gate-regulariser min : min-distance
completes train --projections mlp-p : mlp-pre mlp-post
completes train --operator-init l : live
completes nonsense x :
cd "$work"
mkdir -p 'runs/my run' && touch runs/file
completes eval runs/ : 'runs/my run'
completes report runs/f : runs/file

# Every command and option that the help names is there.
for command in $(sed -n "s/^    '') _edelta_words '\(.*\) --help --version' ;;/\1/p" "$work/bash"); do
  "$edelta" "$command" --help | grep -oE '^  (-[a-z],)?--[a-z0-9-]+(,--[a-z0-9-]+)*' | grep -oE -- '--[a-z0-9-]+' | sort -u >"$work/expected"
  COMP_WORDS=(edelta "$command" --) COMP_CWORD=2
  _edelta || true # compopt works only while bash completes
  printf '%s\n' "${COMPREPLY[@]}" | sort -u | diff - "$work/expected" || fail "the options of $command"
done

if command -v zsh >/dev/null; then zsh -n "$work/zsh" || fail "zsh"; else echo "skipped: zsh (not installed)"; fi
if command -v fish >/dev/null; then fish -n "$work/fish" || fail "fish"; else echo "skipped: fish (not installed)"; fi
expect_exit 2 "$edelta" completion tcsh
echo "every command, option and known value completes"
