"""Before anything runs: where each operator of a pipeline would run, and why."""
