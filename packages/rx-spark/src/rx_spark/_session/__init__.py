"""The Spark session: a Java runtime, a master that answers, the user's modules."""
