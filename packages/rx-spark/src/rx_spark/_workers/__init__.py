"""What executors run, and whether it can travel there. Imported there, therefore light."""
