"""Scores of texts and labels. Pure: strings in, numbers out; no TensorFlow.

One implementation for the Evaluator and for everything else that scores, so that the
numbers cannot drift apart.
"""
