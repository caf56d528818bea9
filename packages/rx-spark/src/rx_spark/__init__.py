"""Pipelines on Apache Spark. Importing this package imports neither pyspark nor pyarrow: executors import it too."""
