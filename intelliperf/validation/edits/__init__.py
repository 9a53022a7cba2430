"""What a candidate may change, decided on what the compiler makes of it: tokens, host code, device code."""
