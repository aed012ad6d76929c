"""The one door from data to the world."""
