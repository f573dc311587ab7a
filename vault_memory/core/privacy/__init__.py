"""Secrets (keys, passwords, card and identity numbers) and private facts (health, family, money, addresses) in a text."""
