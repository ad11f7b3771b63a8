"""Configuration, the DAG, the command line, and the records of runs."""
