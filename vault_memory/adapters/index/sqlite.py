"""The index of one scope in one SQLite database (apsw): FTS5 for words, vectors beside them."""

from __future__ import annotations
