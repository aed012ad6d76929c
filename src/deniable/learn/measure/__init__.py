"""What asks for exact integers: plans of steps, one charge for a training, its releases."""
