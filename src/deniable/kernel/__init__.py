"""A second opinion: reads a plan's statements again and derives how far one unit moves them."""
