limit=$1 patience=$2 mark=$3 tidy=$4
shift 4
PATH=$PATH:/usr/local/bin:/usr/sbin:/sbin:/usr/bin:/bin
LC_ALL=C
export PATH LC_ALL
exec 3<&0 </dev/null
LINERATE_GUARD=$mark setsid "$@" 3<&- &
pid=$!
echo "linerate-guard $mark pid $pid" >&2
marked() {
    for file in $(grep -lsF "LINERATE_GUARD=$mark" /proc/[0-9]*/environ); do
        file=${file%/environ}
        kill -KILL "${file#/proc/}"
    done
}
stop() {
    trap "" TERM HUP INT
    kill -TERM "-$pid"
    left=20
    while [ "$left" -gt 0 ] && kill -0 "-$pid"; do
        sleep 0.1
        left=$((left - 1))
        kill -0 "$pid" || [ "$left" -le 2 ] || left=2
    done
    kill -KILL "-$pid"
    marked
}
trap "stop; exit 143" TERM HUP INT
{
    began=$(date +%s)
    if command -v timeout; then
        while timeout "$patience" sh -c "read -r sign" <&3; do
            [ $(($(date +%s) - began)) -lt "$limit" ] || break
        done
    else
        while read -r sign <&3; do :; done
    fi
    stop
} >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$pid"
code=$?
{
    kill -KILL "-$pid"
    [ "$tidy" = tidy ] || marked
    kill -KILL "$watch"
} >/dev/null 2>&1
echo "linerate-guard $mark end $code" >&2
exit "$code"
