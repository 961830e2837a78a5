set -eu
umask 022

refuse() {
    printf 'refused: %s\n' "$*" >&2
    exit 1
}

need_program() {
    command -v "$1" >/dev/null 2>&1 || refuse "the program $1 (package $2) is not installed"
}

need_there() {
    [ -e "$1" ] || refuse "$1 is not there"
}

need_value() {
    [ "$(cat -- "$1")" = "$2" ] || refuse "$1 does not hold $2"
}

need_argument() {
    case " $(cat /proc/cmdline) " in *" $1 "*) ;; *) refuse "the running kernel has no argument $1" ;; esac
}

need_no_argument() {
    case " $(cat /proc/cmdline) " in *" $1 "*) refuse "the running kernel has the argument $1" ;; esac
}

need_no_lockdown() {
    [ ! -r /sys/kernel/security/lockdown ] || case "$(cat /sys/kernel/security/lockdown)" in
    *'[none]'*) ;;
    *) refuse 'the kernel is locked down: configuration space cannot be written' ;;
    esac
}

# digest FILE: SHA-256 of the file, or "absent".
digest() {
    if [ -L "$1" ]; then
        echo link
    elif [ -e "$1" ]; then
        sha256sum <"$1" | cut -d ' ' -f 1
    else
        echo absent
    fi
}

# need_file FILE DIGEST...: the file has one of the digests.
need_file() {
    path=$1
    now=$(digest "$1")
    shift
    for wanted; do
        [ "$now" != "$wanted" ] || return 0
    done
    refuse "$path is not as it was when the plan was made"
}

# keep FILE: a copy of what was there, made once.
keep() {
    if [ -e "$1" ] && [ ! -e "$KEPT$1" ]; then
        mkdir -p -- "$KEPT${1%/*}"
        cp -p -- "$1" "$KEPT$1"
    fi
}

# put_file FILE MODE: what is read becomes the file.
put_file() {
    keep "$1"
    mkdir -p -- "${1%/*}"
    (umask 077 && cat >"$1.linerate-new")
    chmod "$2" "$1.linerate-new"
    mv -f -- "$1.linerate-new" "$1"
}

# put_value FILE BEFORE AFTER: where the kernel shows a choice, [ ] marks it.
put_value() {
    now=$(cat -- "$1")
    case "$now" in
    "$3" | *"[$3]"*) return 0 ;;
    "$2") printf '%s\n' "$3" >"$1" ;;
    *) refuse "$1 is neither $2 nor $3" ;;
    esac
}
