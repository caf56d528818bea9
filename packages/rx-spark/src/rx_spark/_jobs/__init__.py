"""Plans at work: from a plan to a DataFrame, its job, and the operator that takes its items."""
