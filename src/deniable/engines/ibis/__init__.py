"""Any connection that Ibis opens."""
