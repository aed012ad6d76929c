"""Several losses together: sums, numerical convolution, parallel composition."""
