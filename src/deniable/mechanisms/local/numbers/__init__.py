"""Local mechanisms for numbers: means and distributions."""
