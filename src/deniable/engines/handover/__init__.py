"""What every engine does: run a Plan, and hand over integers that nobody can print."""
