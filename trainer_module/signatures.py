"""Names of the served signatures and of their outputs, for both sides of the seam."""

SERVING_DEFAULT = "serving_default"  # text: string[None]
SERVING_EXAMPLES = "serving_examples"  # examples: string[None], serialized tf.Example
EXAMPLES_INPUT = "examples"

# Classification
LABEL = "label"  # string[batch]: the likeliest class, by name
SCORE = "score"  # float32[batch]: its probability
ALL_LABELS = "labels"  # string[batch, classes]
ALL_SCORES = "scores"  # float32[batch, classes]

# Text to text
OUTPUT_TEXT = "text"  # string[batch]

# In the Trainer's ModelRun, of the eval split, by the checkpoint before any training:
# {"example_ids", "names", "predictions", "scores"}, or {"refused": why there are none}.
UNTUNED_FILE = "untuned.json"

PREDICTION_KEY = {"classification": LABEL, "summarization": OUTPUT_TEXT}
