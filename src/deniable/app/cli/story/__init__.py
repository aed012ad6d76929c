"""What `deniable demo` tells: one hospital's story, a part in each module."""
