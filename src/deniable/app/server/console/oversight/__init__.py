"""The pages on which owners and auditors look at a policy and its ledger."""
