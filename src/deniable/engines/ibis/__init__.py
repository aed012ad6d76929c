"""Any connection that Ibis can open."""
