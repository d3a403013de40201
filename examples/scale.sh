#!/usr/bin/env bash
# One stage and one task of a run over a shared folder, for Slurm arrays, Kubernetes jobs, GNU parallel: docs/scale.md.
#   IN="a.jsonl b.jsonl" WORK=/shared/run PARTS=64 RECIPE='{"keep":"first"}' scale.sh STAGE [INDEX]
# Slurm: sbatch --array=0-63 --wrap 'scale.sh verify $SLURM_ARRAY_TASK_ID'. `scale.sh stages` lists the stages, in order, with their tasks.
set -euo pipefail
stage=$1 index=${2:-0}
read -ra in <<<"$IN"
own=(--recipe "${RECIPE:-{\}}" --parts "$PARTS" --memory "${MEMORY:-2G}")
worker=${SIMHASH_WORKER:-simhash-native-worker}
out=$WORK/$stage/$index.arrow
shopt -s nullglob
# All rows of earlier stages: NAME... becomes the files of their folders.
of() { for name; do printf '%s\0' "$WORK/$name"/*.arrow; done; }
run() { # STAGE KINDS NAMES PART...: the rows of these kinds from the folders of these names
  local name=$1 kinds=$2 names=$3; shift 3
  local files=(); mapfile -d '' files < <(of $names)
  "$worker" "$name" "${own[@]}" --kinds "$kinds" "$@" -o "$out" "${files[@]}"
}
file=(--file "${in[index < ${#in[@]} ? index : 0]}" --number "$index" ${FIELDS:-})
part=(--part "$index")
case $stage in
  stages) n=${#in[@]}
    printf '%s\n' "sketch $n" "exact $PARTS" "bands $PARTS" "texts $PARTS" "pairs $PARTS" "crowd-want 1" "crowd-find $n" "crowd-ask 1" \
      "ask-bands $PARTS" "ask-texts $PARTS" "more-want 1" "more-find $n" "crowd 1" "lists $PARTS" "find $n" "verify $PARTS" \
      "decide 1" "pair-find $n" "relate $PARTS" ;;
  sketch) "$worker" sketch "${own[@]}" "${file[@]}" -o "$out" ;;
  exact) run exact exact sketch "${part[@]}" ;;
  bands) run bands key sketch "${part[@]}" ;;
  texts) run texts shared,copy,outline "sketch bands exact" "${part[@]}" ;;
  pairs) run pairs bucket,outline texts "${part[@]}" ;;
  crowd-want) run crowd full pairs ;;
  crowd-find) run answer want crowd-want "${file[@]}" ;;
  crowd-ask) run crowd full,text,want "pairs crowd-want crowd-find" ;;
  ask-bands) run asked ask,key "crowd-ask sketch" "${part[@]}" ;;
  ask-texts) run texts shared,copy "ask-bands exact" "${part[@]}" ;;
  more-want) run crowd full,text,ask,bucket,want "pairs crowd-want crowd-find crowd-ask ask-texts" ;;
  more-find) run answer want more-want "${file[@]}" ;;
  crowd) run crowd full,text,ask,bucket,want "pairs crowd-want crowd-find crowd-ask ask-texts more-want more-find" ;;
  lists) run lists sight,unseen,ask,want "pairs crowd" "${part[@]}" ;;
  find) run answer want lists "${file[@]}" ;;
  verify) run verify list,text "lists find" "${part[@]}" ;;
  decide) run decide link,copy "verify exact" ;;
  pair-find) run answer want decide "${file[@]}" ;;
  relate) run relate pair,text "decide pair-find" "${part[@]}" ;;
  *) echo "scale.sh: there is no stage $stage" >&2; exit 2 ;;
esac
