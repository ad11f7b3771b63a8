"""Runs the DAG on this machine: `python local_runner.py --help`."""

import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Ctrl-C while modules are imported ends in silence, not in a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

try:
    from pipeline.cli import run_main
except ModuleNotFoundError as error:
    sys.exit(
        f"local_runner.py: the package {error.name!r} is not installed for "
        f"{sys.executable}. Run `make setup`, then `. .venv/bin/activate`."
    )

if __name__ == "__main__":
    run_main(sys.argv[1:])
