"""Several losses together: sums, numerical convolution, disjoint parts."""
