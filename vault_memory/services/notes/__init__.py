"""The files of a scope: saving and restoring a note, its history, reading skills, daily logs and recorded turns."""
