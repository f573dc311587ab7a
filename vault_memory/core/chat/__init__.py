"""Texts that go to a chat model and come from it: a prompt's sections and budget, a client's request with the person's words in it and memory put into it, and the model's response."""
