"""From transformed records to padded batches."""
