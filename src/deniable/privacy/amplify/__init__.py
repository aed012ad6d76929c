"""Privacy amplification by sampling and by shuffling."""
