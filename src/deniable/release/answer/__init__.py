"""From exact integers to the noisy table that is released."""
