"""Where pipelines begin: numbers, items of the driver, lines of text, rows."""
