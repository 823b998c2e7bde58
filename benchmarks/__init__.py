"""Measurements of speed and quality, against raw SQL and peers."""
