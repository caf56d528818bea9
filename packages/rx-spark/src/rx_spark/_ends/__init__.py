"""Where results stay on the cluster: writers, functions for partitions, DataFrames."""
