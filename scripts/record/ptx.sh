#!/usr/bin/env bash
# Makes examples/*.ptx from examples/*.cu: nvcc's own output under the launch lines of the source.
# Needs CUDA's nvcc (13.0 made what is committed).
set -euo pipefail
cd "$(dirname "$0")/../../examples"
for source in ${@:-*.cu}; do
  name=$(basename "$source" .cu)
  nvcc -ptx -arch=sm_80 -O3 "$name.cu" -o "$name.ptx.new"
  { grep '^//! cumetal:' "$name.cu"; cat "$name.ptx.new"; } > "$name.ptx"
  rm "$name.ptx.new"
done
