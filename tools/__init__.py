"""What builds, checks and tests the house; nothing in src imports it."""
