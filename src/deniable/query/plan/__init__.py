"""The frozen Plan and its parts."""
