"""From a Question, a policy and a budget to a Plan, in a visible tuple of steps."""
