"""Brings an index up to date with the files, rebuilds it, and computes its vectors."""
