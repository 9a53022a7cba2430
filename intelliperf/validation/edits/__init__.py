"""What a candidate may change: decided on its text, before anything is built."""
