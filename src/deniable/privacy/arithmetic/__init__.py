"""Numbers rounded to the safe side: intervals, floats, exact epsilons, dominating pairs."""
