"""The chat proxy: it puts memory into a request, sends that to the provider, and records a turn from the response."""
