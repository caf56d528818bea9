"""A batch job as a user writes it, in a package that is not installed: rows in, rows out."""
