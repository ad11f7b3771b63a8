"""Runs the DAG on this machine: `python local_runner.py --help`."""

import sys

from pipeline.cli import run_main

if __name__ == "__main__":
    run_main(sys.argv[1:])
