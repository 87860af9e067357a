#!/bin/sh
# Trains in the background, beside other work: run.sh start [train.py's options], stop, pause, resume, status.
# Checkpoints, log and process id lie in $KVASIR_TRAIN (/var/tmp/kvasir-demo-train). Start goes on from last.pt there,
# and without one from the shipped model.
# The malloc settings keep big tensors' pages: else every step faults them in anew.
cd "$(dirname "$0")" || exit 1
out="${KVASIR_TRAIN:-/var/tmp/kvasir-demo-train}"
mkdir -p "$out"
# The id on file, that of the process group, is only believed while that process is ours: ids are used again.
pid="$(cat "$out/pid" 2>/dev/null)"
[ -n "$pid" ] && grep -qs "train\.py" "/proc/$pid/cmdline" || pid=

case "$1" in
start)
  [ -z "$pid" ] || { echo "runs already ($pid)"; exit 1; }
  shift
  export MALLOC_MMAP_THRESHOLD_=17179869184 MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=268435456
  export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
  # After a crash it goes on from the last checkpoint (2: the options are wrong).
  setsid nohup nice -n 19 sh -c 'until /usr/bin/python3 train.py "$@"; do [ $? = 2 ] && exit; echo "crashed"; sleep 10; done' train \
    --out "$out" --from ../../resources/models/kvasir-demo.gguf "$@" >>"$out/train.log" 2>&1 </dev/null &
  echo $! >"$out/pid"
  # Where the kernel groups processes by session, it is the group's own niceness that counts.
  sleep 1
  echo 19 2>/dev/null >"/proc/$!/autogroup"
  ;;
stop) # it writes a checkpoint first
  [ -n "$pid" ] || { echo "does not run"; exit 0; }
  kill -s TERM -- "-$pid" && kill -s CONT -- "-$pid"
  while kill -s 0 -- "-$pid" 2>/dev/null; do sleep 1; done
  rm -f "$out/pid"
  ;;
pause) [ -n "$pid" ] && kill -s STOP -- "-$pid" ;; # the group: its workers too
resume) [ -n "$pid" ] && kill -s CONT -- "-$pid" ;;
status)
  if [ -n "$pid" ]; then echo "$pid: $(awk '/^State/ { print $2, $3 }' "/proc/$pid/status")"; else echo "does not run"; fi
  ls -l --time-style=full-iso "$out"/*.pt 2>/dev/null
  tail -n 3 "$out/train.log" 2>/dev/null
  ;;
*) echo "run.sh start [options] | stop | pause | resume | status"; exit 2 ;;
esac
