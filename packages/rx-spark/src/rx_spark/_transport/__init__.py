"""What travels between the driver and its tasks: chunks, credits, errors."""
