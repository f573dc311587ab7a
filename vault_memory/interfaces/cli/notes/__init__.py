"""The commands for what is kept as notes: typed memories and mistakes."""
