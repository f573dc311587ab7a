"""Our own endpoints, a file for each subject: health, users and their profiles, their conversations, notes by
name, their typed memories."""
