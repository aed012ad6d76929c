"""Who asks: people, their roles, and the tokens that they show."""
