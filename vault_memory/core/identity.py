"""Who somebody is: names that other programs know people by, led back to the user ids of this vault."""

from __future__ import annotations

from collections.abc import Mapping

from vault_memory.core.layout import check_user_id


def resolve(identities: Mapping[str, str], name: str) -> str:
    """The user id that `name` stands for: by the table, else `name` itself. Raises `InvalidId` where it is neither.

    An outside name with a colon (`telegram:12345`) can never be taken for a user id, as these have none.
    """
    return check_user_id(identities.get(name, name))
