"""Pages and printed sheets, as HTML without any library."""
