#!/bin/sh
# Runs targets that fuzz/build.sh built, each for SECONDS on JOBS processes, beside the programs:
#   FOLDER/run.sh SECONDS JOBS [TARGET...]
# New inputs go to FOLDER/found/TARGET, crashes to FOLDER/crashes/TARGET, logs to FOLDER/logs/TARGET. Prints executions,
# inputs (an execution tries several) and crashes of each target. Fails if there was a crash.
set -eu
cd "$(dirname "$0")"
seconds=${1:?usage: run.sh SECONDS JOBS [TARGET...]}
jobs=${2:?usage: run.sh SECONDS JOBS [TARGET...]}
shift 2
[ $# -gt 0 ] || set -- block containers cuda_c dictionary frame pages raw_blocks reader round_trip seek snapshots wgsl_ptx
here=$PWD
export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
# One thread a process: processes are what runs side by side.
export RAYON_NUM_THREADS=${RAYON_NUM_THREADS:-1}
failed=0
for name in "$@"; do
    mkdir -p "found/$name" "crashes/$name" "logs/$name"
    case $name in
    cuda_c | wgsl_ptx) flags="-timeout=60 -max_len=4096" ;;
    round_trip) flags="-timeout=60 -max_len=20000" ;;
    *) flags="-timeout=30 -max_len=20000" ;;
    esac
    (
        cd "logs/$name"
        rm -f fuzz-*.log
        i=0
        pids=
        while [ "$i" -lt "$jobs" ]; do
            # shellcheck disable=SC2086
            "$here/$name" $flags -reload=30 -rss_limit_mb=4096 -print_final_stats=1 \
                -max_total_time="$seconds" -seed="$((i + 1 + ${SEED:-0}))" \
                -artifact_prefix="$here/crashes/$name/" "$here/found/$name" "$here/corpus/$name" \
                >"fuzz-$i.log" 2>&1 &
            pids="$pids $!"
            i=$((i + 1))
        done
        for pid in $pids; do wait "$pid" || true; done
    )
    executions=$(awk '/stat::number_of_executed_units/ { n += $2 } END { print n + 0 }' "logs/$name"/fuzz-*.log)
    inputs=$(awk '/^inputs: / { last[FILENAME] = $2 } END { for (f in last) n += last[f]; print n + 0 }' "logs/$name"/fuzz-*.log)
    crashes=$(find "crashes/$name" -type f | wc -l)
    echo "$name: $executions executions, $inputs inputs at least, $crashes crashes"
    [ "$crashes" -eq 0 ] || failed=1
done
exit $failed
