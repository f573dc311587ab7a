"""The commands by which assistants are connected with a vault, and those that they call then."""
