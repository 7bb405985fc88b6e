#!/bin/bash
# Halves of textures, cubes with gradients, stores and reductions of surfaces (halves.cu); queries of handles, samples, and NaNs of atomic sums
# (handles.cpp). Writes to $OUT/more. < 60 s.
O="$OUT/more"; mkdir -p "$O"; N=/usr/local/cuda/bin/nvcc
$N -w -arch=sm_90 -O2 halves.cu -o /tmp/halves; $N -w -O1 handles.cpp -o /tmp/handles -lcuda
timeout 15 /tmp/halves 0 > "$O/half.txt"; timeout 15 /tmp/halves 1 > "$O/cube.txt"
for k in 0 1 6 7 8 9 10 11 12 13 14; do for m in 0 1 2 3 4 5; do echo "$k $m"; done; done | xargs -P 12 -n 2 timeout 10 /tmp/halves 2 > "$O/surface.txt"
for k in $(seq 0 17); do timeout 10 /tmp/handles "$k" > "$O/handles-$k.txt" 2>&1; done
