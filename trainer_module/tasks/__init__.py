"""What a task adds to the loop: its model, its loss, and what it serves."""
