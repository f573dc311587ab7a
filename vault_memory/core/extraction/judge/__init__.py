"""The judge: how likely it is that what the rules propose is a preference of the person.

`scene` reads a turn once, `proposals` collects what may be a preference in it, `features` says what speaks for and
against each, `weights` reads the numbers that `make train` has learned, and `verdicts` joins them.
"""
