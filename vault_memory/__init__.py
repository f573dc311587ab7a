"""Memory for AI assistants that lives in a folder of Markdown you own."""

__version__ = "0.1.0"
