"""What a message asks to be forgotten, and what of a memory is meant by that."""
