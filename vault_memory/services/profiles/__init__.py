"""A user's preferences: reading, setting, restoring and undoing them, and computing some of them from the turns."""
