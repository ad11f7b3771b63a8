"""A classifier's head that starts as a linear probe, so that fine-tuning keeps more.

A head of random numbers sends the encoder gradients of random directions until it has
learned something itself, and these spoil what was pretrained. So the head is fitted
first, on the encoder as it is: Kumar et al. 2022, https://arxiv.org/abs/2202.10054.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

from trainer_module import embedding
from trainer_module.input.records import Rows
from trainer_module.progress import Refusal
from trainer_module.tasks.base import Task

MAX_ROWS = 20_000  # Beyond them a head of some hundred numbers a class gains little.
_MAX_ITERATIONS = 500


def fit(task: Task, rows: Rows, *, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Logistic regression on the encoder's vectors of at most `MAX_ROWS` rows.

    The penalty on the weights is half their sum of squares, against the sum of the
    rows' losses. A class without a row gets a score as low as the lowest bias.

    Args:
      task: on one device, and with the pretrained encoder.
      rows: of the train split.
      classes: how many there are.

    Returns:
      (float32 [width, classes], float32 [classes]): a kernel and a bias.

    Raises:
      Refusal: if the rows are of one class only.
    """
    numbers, points = embedding.vectors(task, rows, most=MAX_ROWS)
    labels = rows.labels.numpy()[numbers]
    if len(np.unique(labels)) < 2:
        raise Refusal(
            "train.head_start: the rows that a linear probe is fitted to are of one "
            "class only. Set `--set train.head_start=random`, or bring rows of others."
        )
    fitted = LogisticRegression(C=1.0, max_iter=_MAX_ITERATIONS).fit(points, labels)
    weights, biases = fitted.coef_, fitted.intercept_
    if len(fitted.classes_) == 2:  # One score for two classes: the second one's.
        weights, biases = (np.stack([-x[0], x[0]]) / 2 for x in (weights, biases))
    kernel = np.zeros([points.shape[1], classes], np.float32)
    bias = np.full([classes], np.min(biases), np.float32)
    kernel[:, fitted.classes_], bias[fitted.classes_] = weights.T, biases
    return kernel, bias
