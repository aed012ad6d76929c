"""From SQL text or Python builder calls to a Question."""
