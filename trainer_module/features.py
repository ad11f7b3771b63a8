"""The feature contract: what each stage may count on. Pure names, no TensorFlow.

Raw examples (written by ExampleGen, all bytes, exactly one value each):
  text         what the model reads
  target       the summary, or the name of the label
  example_id   stable name of the row
  <slice>      each column of `data.slices`, under its own name

Transformed examples keep target and example_id, and add:
  input_ids    int64, ragged; ends with the end token, never padded
  labels       int64; ragged token ids (summarization) or one class id
"""

TEXT = "text"
TARGET = "target"
EXAMPLE_ID = "example_id"
RAW = (TEXT, TARGET, EXAMPLE_ID)

INPUT_IDS = "input_ids"
LABELS = "labels"
TRANSFORMED = (INPUT_IDS, LABELS)

LABEL_NAMES_ASSET = "label_names"  # One name a line, sorted by name; line = class id.

RESERVED = frozenset((*RAW, *TRANSFORMED, "examples"))

# Between several references in one target. A control character, so that no text has
# it: ingestion removes them.
REFERENCE_SEPARATOR = "\x1e"
