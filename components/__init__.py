"""Custom TFX components: each a thin shell (component.py) over a pure core."""

import os

# See trainer_module: this package too is imported first in some Beam workers.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
