"""The Evaluator's metrics, each computed from sums over rows.

What a row adds to every sum stands in one line of a `Sheet`. The value of a metric for
any choice of rows, such as a slice or a bootstrap's draw, is a function of the sums
over them, so that thousands of draws cost one product of matrices.
"""
