"""The vault as a whole: creating, checking, repairing and backing it up; its users, and the tokens that give access."""
