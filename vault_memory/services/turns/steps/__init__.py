"""The steps of recording a turn: its line in the record, what it changes, and what waits."""
