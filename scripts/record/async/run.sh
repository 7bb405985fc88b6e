#!/bin/bash
# Records async.cu on the GPU; compare N.txt with `cumetal run async.cu --target cpu -- N`, and open.txt (what no manual says) by hand; (lines that begin with `own` are NVIDIA's own formats).
O="$OUT/async"; mkdir -p "$O"
N=/usr/local/cuda/bin/nvcc
{ $N --version; $N -arch=sm_90a -std=c++17 -O2 -ptx async.cu -o "$O/async.ptx" &
  $N -arch=sm_90a -std=c++17 -O2 async.cu -o ./async_rec -L/usr/local/cuda/lib64/stubs -lcuda && { for k in 0 1 2 3 4 5 6 7 8 9 10 11 12; do timeout 20 ./async_rec $k > "$O/$k.txt"; echo "$k $?"; done; for k in 20 21 22 23 24 25 30 31 32 33 34 35 36 37 38; do timeout 5 ./async_rec $k; done > "$O/open.txt"; }; wait; ls -l "$O"; } > "$O/log.txt" 2>&1
