"""What the values of settings may be. Each check returns what is wrong with a value, None for a valid one.

Other modules are imported where they are used: a vault that sets no schedule does not load that of the jobs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from vault_memory.core.layout import check_user_id
from vault_memory.errors import InvalidId


def locale(name: str) -> str | None:
    from vault_memory.core.profile import LOCALES

    return None if name in ("", *LOCALES) else f"must be one of {', '.join(LOCALES)}, not {name!r}"


def log_commits(when: str) -> str | None:
    return None if when in ("later", "turn") else f'must be "later" or "turn", not {when!r}'


def person(name: str) -> str | None:
    """A person's name or e-mail address: the assistant's would credit their edits to it."""
    is_ours = (
        re.sub(r"[<>\s\0]", "", name).casefold().partition("@")[0] == "vault-memory"
    )  # no commit holds these signs
    return "must not be the assistant's own, vault-memory" if is_ours else None


def schedule(table: Mapping[str, str]) -> str | None:
    from vault_memory.core.timing import parse_schedule

    for job, when in table.items():
        try:
            parse_schedule(when)
        except ValueError as error:
            return f"of {job}: {error}"
    return None


def identities(table: Mapping[str, str]) -> str | None:
    for name, user_id in table.items():
        if not name.strip():
            return f"must not map an empty name (to {user_id!r})"
        try:
            check_user_id(user_id)
        except InvalidId as error:
            return f"of {name!r}: {error}"
    return None


def lexicon(table: Mapping[str, Any]) -> str | None:
    from vault_memory.core.extraction import problem_with

    return problem_with(table) if table else None


def categories(table: Mapping[str, Any]) -> str | None:
    from vault_memory.core.memories import word_lists

    return word_lists.problem_with(table) if table else None


def hosts(names: list[str]) -> str | None:
    wrong = [name for name in names if not re.fullmatch(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]", name)]
    return f"must be host names without port or slash, not {wrong[0]!r}" if wrong else None


def origins(origins: list[str]) -> str | None:
    """Origins as a browser sends them. `null` is none: any page can have it sent, by a frame without an origin."""
    form = r"[A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?"
    wrong = [origin for origin in origins if not re.fullmatch(form, origin)]
    return f"must be origins, such as app://obsidian.md, without a path or *, not {wrong[0]!r}" if wrong else None


def base_url(url: str) -> str | None:
    if "?" in url or "#" in url:
        return "must be an address without a query"
    return (_address(url) or None) if url else None


def patterns(patterns: list[str]) -> str | None:
    for pattern in patterns:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            return f"must be regular expressions: {pattern!r} is not one ({error})"
    return None


def word_groups(groups: list[list[str]]) -> str | None:
    from vault_memory.core.text import synonyms

    if len(groups) > synonyms.MAX_GROUPS:
        return f"has {len(groups):,} groups; {synonyms.MAX_GROUPS:,} are the most"
    problems = ((number, synonyms.group_problem(group)) for number, group in enumerate(groups, 1))
    return next((f"is wrong: group {number} {problem}" for number, problem in problems if problem), None)


def endpoints(endpoints: list[dict[str, str]]) -> str | None:
    problems = ((number, _endpoint(endpoint)) for number, endpoint in enumerate(endpoints, 1))
    wrong = [f"endpoint {number} {problem}" for number, problem in problems if problem]
    return f"are wrong: {'; '.join(wrong)}" if wrong else None


def _endpoint(endpoint: dict[str, str]) -> str:
    """What is wrong with an endpoint; never quotes its url, which may hold a password."""
    if unknown := endpoint.keys() - {"url", "key_env"}:
        return f"has url and key_env, not {', '.join(sorted(unknown))}"
    if not all(isinstance(value, str) for value in endpoint.values()):
        return "must have texts for url and key_env"
    url = endpoint.get("url", "")
    if problem := _address(url):
        return problem
    if not urlsplit(url).path.endswith(("/embeddings", "/api/embed")):
        return "needs the whole address as its url, such as http://localhost:11434/v1/embeddings"
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*|", endpoint.get("key_env", "")):
        return "must have the NAME of an environment variable as its key_env, never the key itself"
    return ""


def _address(url: str) -> str:
    """What is wrong with the address of an endpoint; never quotes it."""
    try:
        address = urlsplit(url)
        is_whole = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:  # brackets that do not close, a port that is not a number
        is_whole = False
    if not is_whole:
        return "needs a url that begins with http:// or https:// and names a host"
    if address.username or address.password:
        return "must not have a password in its url: put it into an environment variable and name that in key_env"
    return ""


def redis_url(url: str) -> str | None:
    """The address of a Redis, without a password: the file is in git."""
    if url and not re.match(r"(redis|rediss|unix)://", url):
        return "must begin with redis://, rediss:// or unix://"
    if "@" in url or "password=" in url:
        return "must have no password in it: set the environment variable REDIS_URL instead"
    return None


def database_url(url: str) -> str | None:
    """The address of a PostgreSQL, without a password: the file is in git. It is never quoted."""
    if url and not re.match(r"postgres(ql)?://", url):
        return "must begin with postgresql://"
    if re.match(r"[a-z]+://[^@]*:.*@", url, re.DOTALL) or "password=" in url:
        return "must have no password in it: set the environment variable SUPABASE_DB_URL instead"
    return None


def longterm_tables(tables: dict[str, str]) -> str | None:
    from vault_memory.core.longterm import tables_problem

    return tables_problem(tables)


def longterm_columns(columns: dict[str, str]) -> str | None:
    from vault_memory.core.longterm import columns_problem

    return columns_problem(columns)
