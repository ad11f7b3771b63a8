"""What a person sees of a training in TensorBoard. The loop knows nothing of it."""
