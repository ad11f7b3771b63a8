#!/bin/sh
# Makes .venv-torch ready, and does nothing when it is: PyTorch on the CPU, which the
# parity test and the benchmark of the training compare with.
#
#   setup-torch.sh              fails where PyTorch cannot be installed
#   setup-torch.sh --optional   says why and succeeds: the parity test is then skipped
#
# PYTHON311 names the Python to use. pip does the installing: where a machine gets its
# CPU wheels from is in pip's settings.

set -eu
unset CDPATH
cd "$(dirname "$0")/.."

venv=.venv-torch
tools=.tools
log=$tools/setup-torch.log
free_gb_needed=3
optional=

say() { printf 'texttune: %s\n' "$*" >&2; }

stop() {
    say "$*"
    [ -n "$optional" ] || exit 1
    say "going on without PyTorch: the parity test will be skipped"
    exit 0
}

# Bounds what may hang. In the foreground, so that Ctrl-C reaches it.
limited() { timeout --foreground "$@" </dev/null; }

# The path is a part of it, because an environment does not survive being moved.
fingerprint() {
    { pwd -P && cat requirements-torch.lock; } | sha256sum | cut -c 1-16
}

is_ready() { [ -e "$stamp" ] && [ -x $venv/bin/python ]; }

probe='
import ensurepip, sys, venv
sys.exit(sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 11))
'

# Sets python: the wheels of the lock are made for this version.
find_python() {
    for python in "${PYTHON311:-python3.11}" "${PYTHON311:-python3}"; do
        limited 20 "$python" -c "$probe" >/dev/null 2>&1 && return
    done
    [ -z "${PYTHON311:-}" ] ||
        stop "PYTHON311=$PYTHON311 is not a CPython 3.11 with venv"
    stop "PyTorch needs a Python 3.11 with venv, and none is on the path; install one" \
        "('uv python install 3.11', on Debian 12 'apt-get install python3.11-venv')" \
        "or name it in PYTHON311, then run make setup-torch again"
}

check_disk() {
    free_gb=$(df -Pk . | awk 'NR == 2 { print int($4 / 1048576) }')
    [ "$free_gb" -ge "$free_gb_needed" ] ||
        stop "needs $free_gb_needed GB of free disk for $venv, and has $free_gb GB"
}

# Says what pip said last, since its settings are the user's own.
could_not() {
    reason=$(grep '^ERROR: ' "$log" | tail -n 1 | cut -c 8-)
    stop "PyTorch could not be $1 ($log has all of it):" \
        "${reason:-$(tail -n 1 "$log")}. Its CPU wheels may need an index of their" \
        "own: name it in PIP_EXTRA_INDEX_URL, then run make setup-torch again"
}

install() {
    say "installing $(grep '^torch==' requirements-torch.lock | cut -d ' ' -f 1) and" \
        "what it needs into $venv (some minutes; details in $log)"
    rm -rf $venv
    "$python" -m venv $venv >>"$log" 2>&1 || could_not "given a place"
    # The lock names every dependency, so pip looks for no other.
    limited 1800 $venv/bin/python -m pip install --no-deps --require-hashes \
        --only-binary :all: --progress-bar off --no-input \
        -r requirements-torch.lock >>"$log" 2>&1 || could_not "installed"
    # A wheel may install, and yet not run on an old processor or libc.
    $venv/bin/python -c 'import torch, transformers' >>"$log" 2>&1 ||
        could_not "imported"
    touch "$stamp"
}

case ${1:-} in
'') ;;
--optional) optional=yes ;;
*) stop "unknown option $1: setup-torch.sh [--optional]" ;;
esac
stamp=$venv/.installed-$(fingerprint)
! is_ready || exit 0
mkdir -p "$tools"
# Two makes at once: the second waits, then finds everything done.
exec 9>"$tools/lock-torch"
flock 9
! is_ready || exit 0
: >"$log"
unset VIRTUAL_ENV PYTHONPATH PYTHONHOME
find_python
check_disk
started=$(date +%s)
install
say "PyTorch is ready after $(($(date +%s) - started)) s"
