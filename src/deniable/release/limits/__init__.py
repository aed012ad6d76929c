"""What limits on one unit's rows leave out: two noisy histograms, and all that follows."""
