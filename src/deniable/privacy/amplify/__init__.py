"""What sampling and shuffling add to a guarantee."""
