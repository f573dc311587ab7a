"""The content of a vault's files: a note's front matter, body and conflict blocks, the chunks that are indexed, and what a turn leaves behind."""
