"""Language models behind HTTP: one chat model that completes one request, and the providers behind the chat proxy."""
