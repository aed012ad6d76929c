"""Our speed against a peer or a limit: each figure a ratio, measured in one run."""
