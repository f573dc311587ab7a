"""USER.md: its fields in three languages, its text with every line kept, its values."""
