"""From SQL text or builder calls to a Question."""
