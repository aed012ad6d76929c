"""What every engine does: run a Plan, and hand over integers that cannot be printed."""
