"""What Spark is asked to do, as data, and what a writer says of its work."""
