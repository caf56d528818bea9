"""Rows and columns: which fields an item has, and expressions over them as SQL."""
