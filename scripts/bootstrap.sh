#!/bin/sh
# Makes .venv ready, and does nothing when it is.
#
#   bootstrap.sh                 find Python 3.10, install the lock and the project
#   bootstrap.sh --find-python   print the Python 3.10 that set-up would use
#   bootstrap.sh --find-uv       print the uv that set-up would use
#
# PYTHON310 names the Python to use. uv does the installing: unlike pip it needs no
# ensurepip, makes .venv equal to the lock, and takes half the time.

set -eu
unset CDPATH
cd "$(dirname "$0")/.."

tools=.tools
log=$tools/setup.log
free_gb_needed=5

say() { printf 'texttune: %s\n' "$*" >&2; }

stop() {
    say "$*"
    exit 1
}

# Bounds what may hang. In the foreground, so that Ctrl-C reaches it.
limited() { timeout --foreground "$@" </dev/null; }

# Runs a command with its output in the log; when it fails, shows the end of it.
logged() {
    printf '\n$ %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1 && return
    say "set-up failed; run make again to go on. The end of $log:"
    tail -n 15 "$log" >&2
    exit 1
}

# --- Python 3.10 ---------------------------------------------------------------------

# One dependency is compiled here, so the C headers count as part of a Python.
probe='
import os, sys, sysconfig
if sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 10):
    sys.exit(2)
headers = sysconfig.get_path("include")
sys.exit(0 if os.path.exists(os.path.join(headers, "Python.h")) else 3)
'
python=
without_headers=

# Takes "$1" when it runs and is usable: a pyenv shim may exist and refuse to run.
try_python() {
    [ -x "$1" ] || return 1
    verdict=0
    limited 20 "$1" -c "$probe" >/dev/null 2>&1 || verdict=$?
    case $verdict in
    0) python=$1 && return 0 ;;
    3) without_headers=${without_headers:-$1} ;;
    esac
    return 1
}

# Takes the first usable line of "$1": lines, since paths may hold spaces.
try_each() {
    while IFS= read -r candidate; do
        try_python "$candidate" && return 0
    done <<EOF
$1
EOF
    return 1
}

on_path() { printf '%s\n' "$PATH" | tr ':' '\n' | sed "s|\$|/$1|"; }

in_pyenv() {
    root=${PYENV_ROOT:-${HOME:-}/.pyenv}
    printf '%s\n' "$root"/versions/3.10.*/bin/python | sort -rV
}

known_to_uv() { limited 60 "$uv" python find 3.10 2>/dev/null || true; }

installed_by_uv() {
    limited 300 "$uv" python install 3.10 >/dev/null 2>&1 || return 0
    limited 60 "$uv" python find --managed-python 3.10 2>/dev/null || true
}

find_python() {
    if [ -n "${PYTHON310:-}" ]; then
        try_python "$(command -v "$PYTHON310" || true)" && return
        stop "PYTHON310=$PYTHON310 is not a CPython 3.10 with its C headers"
    fi
    try_each "$(on_path python3.10)" && return
    try_each "$(in_pyenv)" && return
    if find_uv; then
        try_each "$(known_to_uv)" && return
        try_each "$(installed_by_uv)" && return
    fi
    [ -z "$without_headers" ] || stop "$without_headers lacks its C headers;" \
        "install them (apt-get install python3.10-dev) or uv, then run make again"
    stop "no Python 3.10 found; install one with 'uv python install 3.10'," \
        "'pyenv install 3.10', or on Ubuntu 22.04 'apt-get install python3.10-dev'"
}

# --- uv ------------------------------------------------------------------------------

uv=

# uv before 0.5 lacks options used here.
runs_as_uv() {
    case $(limited 20 "$1" --version 2>/dev/null || true) in
    'uv 0.'[0-4].*) return 1 ;;
    'uv '[0-9]*) uv=$1 ;;
    *) return 1 ;;
    esac
}

find_uv() {
    [ -z "$uv" ] || return 0
    runs_as_uv "$(command -v uv || true)" && return
    pinned=$(sed -n 's/^uv==\([^ ]*\).*/\1/p' scripts/uv.lock)
    runs_as_uv "$PWD/$tools/uv-$pinned/bin/uv" && return
    fetch uv "$tools/uv-$pinned" && runs_as_uv "$PWD/$tools/uv-$pinned/bin/uv"
}

# Installs scripts/$1.lock into folder $2 with whichever pip there is.
fetch() {
    mkdir -p "$tools"
    for base in "$python" python3; do
        find_pip "$base" || continue
        rm -rf "$2"
        printf '\n$ fetch %s with %s\n' "$1" "$pip_file" >>"$log"
        limited 600 "$base" "$pip_file" install --quiet --no-deps --require-hashes \
            --only-binary :all: --target "$2" -r "scripts/$1.lock" \
            >>"$log" 2>&1 && return
    done
    return 1
}

# Sets pip_file to a pip that "$1" can run by its path. Debian's Python comes without
# pip and without the means to make one, but its pip is a package anyone may download.
find_pip() {
    [ -n "$(command -v "$1" || true)" ] || return 1
    pip_file=$(limited 20 "$1" -c 'import pip; print(pip.__path__[0])' 2>/dev/null) &&
        return
    for pip_file in "$tools"/debian/usr/share/python-wheels/pip-*.whl \
        /usr/share/python-wheels/pip-*.whl; do
        [ ! -f "$pip_file" ] || { pip_file=$pip_file/pip && return; }
    done
    limited 60 "$1" -m venv "$tools/pip" >>"$log" 2>&1 &&
        pip_file=$(echo "$PWD/$tools"/pip/lib/python*/site-packages/pip) && return
    (
        cd "$tools" && rm -rf ./python*-pip-whl_*.deb debian
        limited 60 apt-get download python3-pip-whl ||
            limited 60 apt-get download python-pip-whl
        dpkg-deb -x ./python*-pip-whl_*.deb debian
    ) >>"$log" 2>&1 || return 1
    pip_file=$(echo "$tools"/debian/usr/share/python-wheels/pip-*.whl)/pip
}

# --- .venv ---------------------------------------------------------------------------

# Names the state of everything that decides what is installed. The path is a part of
# it, because an environment does not survive being moved.
fingerprint() {
    {
        pwd -P
        cat requirements*.in requirements*.lock setup.py scripts/bootstrap.sh
    } | sha256sum | cut -c 1-16
}

is_ready() { [ -e "$stamp" ] && [ -x .venv/bin/python ]; }

check_machine() {
    [ "$(uname -s) $(uname -m)" = 'Linux x86_64' ] ||
        stop "needs Linux on x86-64, the only one that requirements.lock is made for"
    [ ! -d .venv ] || return 0
    free_gb=$(df -Pk . | awk 'NR == 2 { print int($4 / 1048576) }')
    [ "$free_gb" -ge "$free_gb_needed" ] ||
        stop "needs $free_gb_needed GB of free disk for .venv, and has $free_gb GB"
}

# uv does not read pip's settings, in which a company names its package index.
borrow_pip_settings() {
    find_pip "$python" || return 0
    index=$("$python" "$pip_file" config get global.index-url 2>/dev/null || true)
    index=${PIP_INDEX_URL:-$index}
    [ -z "$index" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"
    [ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$PIP_CERT}"
}

# pyfarmhash exists only as C++ source.
find_compiler() {
    if command -v c++ >/dev/null && command -v cc >/dev/null; then
        export CC="${CC:-cc}" CXX="${CXX:-c++}"
    elif [ -z "${CXX:-}" ]; then
        say "no C++ compiler here: fetching one (100 MB, removed afterwards)"
        fetch zig "$tools/zig" || stop "cannot get a C++ compiler: install g++"
        CXX="$PWD/$tools/zig/ziglang/zig c++"
        export CC="$CXX" CXX
        export ZIG_GLOBAL_CACHE_DIR="$PWD/$tools/zig/cache"
    fi
}

# Leaves .venv/.installing behind until all is done, so that an interrupted set-up is
# seen the next time: a package may then be there in part, and is linked again.
install() {
    reinstall=
    if ! try_python "$PWD/.venv/bin/python"; then
        rm -rf .venv
        logged "$uv" venv --python "$python" --prompt texttune .venv
    elif [ -e .venv/.installing ]; then
        reinstall=--reinstall
    fi
    rm -f .venv/.installed-*
    touch .venv/.installing

    say "installing $(grep -c '^[a-z].*==' requirements.lock) packages into .venv" \
        "(some minutes the first time; details in $log)"
    # The lock is also what packages may be built with. sync never follows dependencies.
    logged "$uv" pip sync --python .venv/bin/python --require-hashes $reinstall \
        --build-constraints requirements.lock requirements.lock requirements-models.lock
    # "compat" puts the folder itself on the path, as editors and mypy understand.
    logged "$uv" pip install --python .venv/bin/python --no-deps --no-build-isolation \
        --config-settings editable_mode=compat --editable .

    say "compiling their bytecode"
    # Some packages ship files for other Pythons, so failures here mean nothing.
    .venv/bin/python -m compileall -q -j 0 .venv/lib/python3.10/site-packages \
        >>"$log" 2>&1 || true

    touch "$stamp"
    rm -rf .venv/.installing "$tools/zig" "$tools/pip"
}

set_up() {
    stamp=.venv/.installed-$(fingerprint)
    ! is_ready || return 0
    check_machine
    mkdir -p "$tools"
    # Two makes at once: the second waits, then finds everything done.
    exec 9>"$tools/lock"
    flock 9
    ! is_ready || return 0
    : >"$log"

    started=$(date +%s)
    find_python
    say "setting up with $("$python" --version) ($python)"
    find_uv || stop "cannot get uv, which installs the packages: install uv or" \
        "python3-venv, then run make again (details in $log)"
    borrow_pip_settings
    find_compiler
    trap 'say "interrupted; run make again to go on"; exit 130' INT TERM
    # Only what the lock names may decide what is installed.
    unset VIRTUAL_ENV PYTHONPATH PYTHONHOME
    export UV_PYTHON_DOWNLOADS=never
    export UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-120}"
    install
    say "ready after $(($(date +%s) - started)) s"
}

case ${1:-} in
'') set_up ;;
--find-python) find_python && printf '%s\n' "$python" ;;
--find-uv) find_uv || stop "cannot get uv: install it, or python3-venv" && echo "$uv" ;;
*) stop "unknown option $1: bootstrap.sh [--find-python | --find-uv]" ;;
esac
