#!/usr/bin/env bash
# No source includes a header of a layer that its own may not use.
#   includes_test.sh SOURCE_DIR LAYER=BELOW,BELOW...   one word for each layer, as src/CMakeLists.txt has them
set -euo pipefail
cd "$1"
shift
wrong=0 checked=0
for word in "$@"; do
  layer=${word%%=*}
  allowed="$layer ${word#*=}"
  allowed=" ${allowed//,/ } "
  for folder in src/"$layer" include/edelta/"$layer"; do
    [[ -d $folder ]] || continue
    while IFS=: read -r file line include; do
      checked=$((checked + 1))
      used=${include#*[\"<]}
      used=${used#edelta/}
      [[ $used == */* ]] || continue  # edelta/torch.h and edelta/version.h belong to all
      used=${used%%/*}
      if [[ $allowed != *" $used "* ]]; then
        echo "$file:$line: $layer may not use $used: $include"
        wrong=$((wrong + 1))
      fi
    done < <(grep -rnE '#include ("|<edelta/)' "$folder")
  done
done
echo "$checked includes checked, $wrong go upward"
[[ $wrong -eq 0 && $checked -gt 300 ]]
