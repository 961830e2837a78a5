# Reads what the catalogue names with nothing but a POSIX shell and common programs. $1 is a word that files cannot know: what separates two
# lines that begin with it is content. Nothing is written here.
N=$1
T=
umask 077
unset IFS CDPATH ENV
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:/opt/mellanox/iproute2/sbin:/opt/mellanox/ethtool/sbin:/opt/mellanox/bin:/opt/mellanox/sbin
user=$(env | grep -E '@ENV@' 2>/dev/null)
LC_ALL=C
export PATH LC_ALL
cd / || exit 3
set +f
exec 4>&1 </dev/null
echo "linerate-way $N begin script $(id -u)"
IFS=
# Without a limit of its own a command has that of the whole.
timeout 5 true 2>/dev/null && T=timeout
# Names of what a directory has, for ls.
list() {
    at=$1
    shift
    for d in $at; do
        [ -d "$d" ] || continue
        for n; do
            for f in "$d"/$n; do
                { [ -e "$f" ] || [ -h "$f" ]; } && printf '%s\0' "$f"
            done
        done
    done
}
# Directories that nobody may look into.
closed() {
    for d in $1; do
        [ ! -d "$d" ] || { [ -r "$d" ] && [ -x "$d" ]; } || printf '\n%s x %s\n' "$N" "$d"
    done
}
why() {
    printf '\n%s e %s\n%s' "$N" "$1" "$2"
}
# A small file, without starting a program.
small() {
    at=$1
    shift
    for n; do
        for f in $at/$n; do
            [ -f "$f" ] || continue
            if [ ! -r "$f" ]; then
                why "$f" "Permission denied"
                continue
            fi
            printf '\n%s f %s\n' "$N" "$f"
            l= some=
            while read -r l; do
                some=1
                printf '%s\n' "$l"
            done <"$f"
            if [ -n "$some$l" ]; then
                printf '%s' "$l"
            else
                # Some attributes are not to be had byte by byte.
                err=$(cat "$f" 2>&1 >&4)
                [ -z "$err" ] || why "$f" "$err"
            fi
        done
    done
}
# So many bytes of a file.
bytes() {
    most=$1 at=$2
    shift 2
    for n; do
        for f in $at/$n; do
            [ -f "$f" ] || continue
            if [ ! -r "$f" ]; then
                why "$f" "Permission denied"
                continue
            fi
            printf '\n%s f %s\n' "$N" "$f"
            err=$(head -c "$most" "$f" 2>&1 >&4)
            [ -z "$err" ] || why "$f" "$err"
        done
    done
}
# The part of a file that may leave this host, with the size of the whole.
part() {
    how=$1 most=$2 at=$3
    shift 3
    for n; do
        for f in $at/$n; do
            [ -f "$f" ] || continue
            size=$(wc -c <"$f" 2>/dev/null)
            if [ -z "$size" ]; then
                why "$f" "Permission denied"
                continue
            fi
            printf '\n%s k %s\n%s\n' "$N" "$f" $((size))
            head -c "$most" "$f" 2>/dev/null | "$how"
        done
    done
}
sha() {
    if command -v sha256sum >/dev/null; then
        sha256sum
    elif command -v shasum >/dev/null; then
        shasum -a 256
    elif command -v openssl >/dev/null; then
        openssl dgst -sha256 -r
    fi
}
digest() {
    read -r id
    sum=$(printf 'linerate machine-id\0%s' "$id" | sha)
    [ -z "$sum" ] || printf '%s\n' "${sum%% *}"
}
shm() { grep "^[^ ]* /dev/shm "; }
trim() {
    l=${l#"${l%%[![:space:]]*}"}
    l=${l%"${l##*[![:space:]]}"}
}
# Named keys of named sections; what goes on behind a backslash is a piece of the value before it.
ini() {
    section= more=
    while read -r l || [ -n "$l" ]; do
        trim
        case $l in
        "#"* | ";"*) continue ;;
        esac
        piece=$more more=
        case $l in
        *\\) more=1 ;;
        esac
        [ -z "$piece" ] || continue
        case $l in
        "["*)
            section=$l
            "$1" "$section" "[]" && printf '%s\n' "$l"
            continue
            ;;
        *=*) ;;
        *) continue ;;
        esac
        key=${l%%=*}
        key=${key%"${key##*[![:space:]]}"}
        if "$1" "$section" "$key"; then
            [ -z "$more" ] || l="$key=(continued)"
            printf '%s\n' "$l"
        fi
    done
}
nmprofile() { ini nmprofile_has; }
nmdevice() { ini nmdevice_has; }
networkd() { ini networkd_has; }
# A command of the list: its number, which of the alternatives, the value it is repeated for, limits of seconds and bytes.
run() {
    if [ -n "$T" ]; then "$T" "$limit" "$@"; else "$@"; fi
}
cmd() {
    which=$1 limit=$2 most=$3 through=$4
    shift 4
    printf '\n%s c %s\n' "$N" "$which"
    if ! command -v "$1" >/dev/null 2>&1; then
        printf '\n%s r not found\n' "$N"
        return 1
    fi
    if [ "$through" = log ]; then
        s=$({ { run "$@" 2>&3 3>&- 4>&-; printf '\n%s r %s\n' "$N" "$?" >&3; } | log | head -c "$most" >&4; } 3>&1)
    else
        s=$({ { run "$@" 2>&3 3>&- 4>&-; printf '\n%s r %s\n' "$N" "$?" >&3; } | head -c "$most" >&4; } 3>&1)
    fi
    printf '\n%s s\n%s\n' "$N" "$s"
    case $s in
    *"$N r 0"*) return 0 ;;
    esac
    return 1
}
any() {
    for f in $1; do
        [ -e "$f" ] && return 0
    done
    return 1
}
harmless() {
    case $1 in
    "" | -* | *[!A-Za-z0-9:._@-]*) return 1 ;;
    esac
}
mlx() {
    [ -e "$1/physfn" ] && return 1
    read -r vendor <"$1/vendor" && read -r class <"$1/class" || return 1
    case $vendor:$class in
    0x15b3:0x02*) return 0 ;;
    esac
    return 1
}
