"""Where reports are kept, so that no report can be joined to a pass."""
