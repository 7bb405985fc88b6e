#!/bin/bash
# Every scalar video instruction with selectors, saturation and second operations: results of ptxas's code and of the driver's compiler. < 30 s.
O="$OUT/video"; mkdir -p "$O"; T=/usr/local/cuda/bin; PATH=$T:$PATH python3 make.py; N=$(wc -l < forms.txt)
{ cp run.c /tmp/video_run.cu; sed -i 's/= malloc/= (char *)malloc/g' /tmp/video_run.cu; $T/nvcc -w /tmp/video_run.cu -o /tmp/video_run -lcuda; $T/ptxas --version | tail -2
$T/ptxas -arch=sm_90 video.ptx -o /tmp/video.cubin; timeout 20 /tmp/video_run /tmp/video.cubin "$O/offline.bin" $N; echo offline $?
timeout 40 /tmp/video_run video.ptx /tmp/video_jit.bin $N; echo jit $?; cmp "$O/offline.bin" /tmp/video_jit.bin && echo same || gzip -9 -c /tmp/video_jit.bin > "$O/jit.bin.gz"; gzip -9 "$O/offline.bin"; } > "$O/log.txt" 2>&1
