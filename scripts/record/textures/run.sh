#!/bin/bash
# Textures and surfaces of an NVIDIA GPU. Each line of jobs-*.txt makes one and fetches at coordinates of coords.bin; fixtures/h200/textures has such
# lines, with the coordinates and the words of the results. Kernels are in modules by group, so that one that the driver refuses stands alone.
N=/usr/local/cuda/bin/nvcc
O="$OUT/textures"; mkdir -p "$O"
$N -w -arch=sm_90 -o rec rec.cu -lcuda > "$O/log.txt" 2>&1 &
$N -w -arch=sm_90 -o api api.cu -lcuda > "$O/log-api.txt" 2>&1 &
for g in 0 1 2 3 4 5 6 7 8 9 10; do { $N -w -arch=sm_90 -DGROUP=$g -cubin kernels.cu -o g$g.cubin; $N -w -arch=sm_90 -DGROUP=$g -ptx kernels.cu -o g$g.ptx; } > g$g.log 2>&1 & done
wait
ls jobs-*.txt | sed 's/.txt//' | xargs -P 14 -I@ sh -c 'timeout 100 ./rec @.txt coords.bin @.out > @.log 2>&1; echo "exit $?" >> @.log'
for l in g*.log jobs-*.log; do echo "== $l"; head -c 3000 $l; done >> "$O/log.txt"
timeout 20 ./api > "$O/api.txt" 2>&1
tar czf "$O/out.tgz" jobs-*.out
