"""What if people do not follow the design: careless, dishonest and forged reports."""
