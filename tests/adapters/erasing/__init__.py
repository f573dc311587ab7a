"""Erasing from a git repository."""
