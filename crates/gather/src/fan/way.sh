# The way to the program on a host. $1 a word that marks what is said here, $2 whether sudo is tried, $3 whether the program is removed,
# $4 version that an installed one must have, then MACHINE:DIGEST of the programs that could be pushed, --, and the arguments.
nonce=$1 sudo=$2 leave=$3 version=$4
shift 4
say() { echo "linerate-way $nonce $*"; }
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
run() {
    how=$1 program=$2
    shift 2
    if [ "$sudo" = sudo ] && [ "$(id -u)" != 0 ] && sudo -n -- "$program" --version </dev/null >/dev/null 2>&1; then
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
if [ -n "$sum" ] && [ -n "$home" ] && [ -f "$file" ] && [ ! -h "$file" ]; then
    got=$(digest "$file" 2>/dev/null)
    [ "${got%% *}" != "$sum" ] || run cache "$file" "$@"
    [ -z "$got" ] || rm -f "$file"
fi
if [ "$version" != - ]; then
    installed=$(command -v linerate 2>/dev/null)
    case $installed in
    /*) [ "$("$installed" --version </dev/null 2>/dev/null)" != "linerate $version" ] || run installed "$installed" "$@" ;;
    esac
fi
if [ -z "$sum" ]; then
    say foreign "$machine"
elif [ -z "$home" ]; then
    say no-home
elif [ -z "$(digest /dev/null)" ]; then
    say no-digest
else
    say missing "$machine"
fi
exit 90
