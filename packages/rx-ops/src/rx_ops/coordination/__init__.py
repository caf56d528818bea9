"""Coordinating operators that are still generators: multicasting, and what it needs."""
