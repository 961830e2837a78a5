umask 077
home=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
case $home in
/*) ;;
*)
    echo "there is no home directory" >&2
    exit 1
    ;;
esac
dir=$home/linerate/$1
file=$dir/linerate
part=$dir/.$3.part
digest() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum <"$1"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 <"$1"
    else
        openssl dgst -sha256 -r <"$1"
    fi
}
same() {
    sum=$(digest "$1" 2>/dev/null) && [ "${sum%% *}" = "$2" ]
}
mkdir -p "$dir" && [ ! -h "$dir" ] || exit 1
trap 'rm -f "$part"' EXIT
trap 'exit 1' HUP INT TERM
cat >"$part" || why="it could not be written"
if [ -z "$why" ] && [ "$(wc -c <"$part")" -eq "$2" ] && same "$part" "$1" && chmod 700 "$part"; then
    # Homes are shared: another host may run the one that is there.
    if same "$file" "$1" || mv -f "$part" "$file"; then
        echo "placed $3"
        exit 0
    fi
fi
[ -n "$why" ] || echo "the program did not arrive whole" >&2
rm -f "$part"
rmdir "$dir" "$home/linerate" 2>/dev/null
exit 1
