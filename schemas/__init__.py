"""Reviewed schemas: what the raw features of a job may hold, as .pbtxt files.

A config names one with `data.reviewed_schema`. Without one, a schema is inferred
anew at each run, and whatever has drifted into the data is taken for normal.
"""
