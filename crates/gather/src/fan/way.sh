# The way to the program on a host. $1 a word that marks what is said here, $2 whether sudo is tried, $3 whether the program is removed,
# $4 whether one that is installed may run, $5 the version that a program must have, then MACHINE:DIGEST of the programs that could be pushed,
# --, and the arguments.
nonce=$1 sudo=$2 leave=$3 installed=$4 version=$5
shift 5
say() { printf 'linerate-way %s %s\n' "$nonce" "$*"; }
machine=$(uname -m)
sum=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case ${1%%:*} in
    "$machine" | any) [ -n "$sum" ] || sum=${1#*:} ;;
    esac
    shift
done
[ $# -eq 0 ] || shift
home=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
case $home in
/*) ;;
*) home= ;;
esac
file=$home/linerate/$sum/linerate
digest() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum <"$1"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 <"$1"
    elif command -v openssl >/dev/null 2>&1; then
        openssl dgst -sha256 -r <"$1"
    fi
}
remove() {
    rm -f "$file"
    rmdir "$home/linerate/$sum" "$home/linerate" 2>/dev/null
}
# Asks a program for its version, and says in `why` that it cannot run here. The dynamic linker of a C library that is too old ends with 1, as a
# program that failed does, so that this is seen before anything begins. One that hangs has the limit of the whole.
refused() {
    why=
    said=$("$@" --version </dev/null 2>&1)
    status=$?
    [ "$said" != "linerate $version" ] || return 1
    said=${said%%"$newline"*}
    said=${said#"$file: "}
    said=${said%" (required by $file)"}
    why="asked for its version, it ended with status $status and said: ${said:-nothing}"
}
newline='
'
run() {
    how=$1 program=$2
    shift 2
    if [ "$sudo" = sudo ] && [ "$(id -u)" != 0 ] && ! refused sudo -n -- "$program"; then
        say begin "$how" sudo
        set -- sudo -n -- "$program" "$@"
    else
        say begin "$how" "$(id -u)"
        set -- "$program" "$@"
    fi
    [ "$leave" = leave ] && [ "$how" = cache ] || exec "$@"
    trap remove EXIT
    trap "exit 143" TERM HUP INT
    "$@"
    exit
}
why=
if [ -n "$sum" ] && [ -n "$home" ] && [ -f "$file" ] && [ ! -h "$file" ]; then
    got=$(digest "$file" 2>/dev/null)
    if [ "${got%% *}" = "$sum" ]; then
        refused "$file" || run cache "$file" "$@"
    elif [ -n "$got" ]; then
        rm -f "$file"
    fi
fi
if [ "$installed" = installed ]; then
    there=$(command -v linerate 2>/dev/null) pushed=$why
    case $there in
    /*) refused "$there" || run installed "$there" "$@" ;;
    esac
    why=$pushed
fi
if [ -n "$why" ]; then
    [ "$leave" != leave ] || remove
    say cannot "$why"
elif [ -z "$sum" ]; then
    say foreign "$machine"
elif [ -z "$home" ]; then
    say no-home
elif [ -z "$(digest /dev/null)" ]; then
    say no-digest
else
    say missing "$machine"
fi
exit 90
