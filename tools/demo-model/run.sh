#!/bin/sh
# Trains in the background, beside other work: run.sh HH:MM (UTC end). Log and PID lie in /tmp.
# The malloc settings keep big tensors' pages (else every step faults them in anew); passive OpenMP
# threads do not spin when another program has the core.
cd "$(dirname "$0")" || exit 1
export MALLOC_MMAP_THRESHOLD_=17179869184 MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=268435456
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 PYTHONDONTWRITEBYTECODE=1
nohup nice -n 19 /usr/bin/python3 train.py --until "$@" >>/tmp/kvasir-train.log 2>&1 &
echo $! >/tmp/kvasir-train.pid
