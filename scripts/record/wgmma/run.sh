#!/bin/bash
# wgmma (dense and sparse, random descriptors and swizzles) and mma.sp with random inputs on a real H200. The trials are PTX texts and inputs that
# spec/support/wgmma-trials.ts and spec/device/mma-sparse.spec.ts made (trials/manifest.json, manifest-sparse.json). Writes $OUT/wgmma/results.bin
# (the registers of d of each trial, one after the other) and log.txt (name, state, offset, bytes). Note: the image of a trial is image.TYPE.bin.
set -e
cd "$(dirname "$0")"
mkdir -p "$OUT/wgmma"
/usr/local/cuda/bin/nvcc -O1 -o /tmp/wgmma-recorder main.cpp -lcuda
/tmp/wgmma-recorder trials "$OUT/wgmma"
nvidia-smi --query-gpu=name,driver_version --format=csv > "$OUT/wgmma/gpu.txt" || true
gzip -f "$OUT/wgmma/results.bin"
