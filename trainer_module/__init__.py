"""All that trains and exports: preprocessing, the loop, tasks, signatures."""

import os

# transformers' TF models and TF Transform need Keras 2, and the flag is read at the
# first TensorFlow import: every process that imports this package must have it.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
