"""Finds what is remembered: search, search in a separate process, the prompt for a request, the search benchmark."""
