"""The exchange with a remote: fetch, merge, push; and the conflicts that it leaves for a person."""
