"""Erasing for good."""
