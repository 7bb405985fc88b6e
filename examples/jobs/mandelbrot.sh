#!/bin/sh
# One of several parts of a picture, of 512 rows in all: sh mandelbrot.sh PART PARTS, with parts from 0 on.
# A scheduler gives the part: SLURM_PROCID, JOB_COMPLETION_INDEX, the number of a task. See docs/many-gpus.md.
set -eu
part=$1
rows=$((512 / $2))
top=$(awk "BEGIN { print -1.5 + $part * $rows * 0.005859375 }")
exec "${CUMETAL:-cumetal}" run "$(dirname "$0")/../mandelbrot.ptx" --device "${DEVICE:-auto}" --grid "32,$((rows / 8))" --block 16,8 \
  --arg "u8:${rows}x512" --arg u32=512 --arg f32=-2.2 --arg "f32=$top" --arg f32=0.005859375 --arg u32=255 --out "0=part$part.bin"
