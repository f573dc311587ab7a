"""Git's own formats and commands: objects, git's index, refs, settings, filters, the log, diffs, remotes, upkeep."""
