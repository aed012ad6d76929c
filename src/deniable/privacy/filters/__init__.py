"""How much an adaptive sequence of releases may spend."""
