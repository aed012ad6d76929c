"""What a release says about groups: means, sums and their noise, samples, unit moments."""
