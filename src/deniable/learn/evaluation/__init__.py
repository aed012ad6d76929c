"""How good a model is, from one noisy histogram. This room sees no row."""
