"""Settings, declared once: each field of `Config` is one setting with its type, default, allowed values and help.

A value comes from, strongest first: a flag, an environment variable, the vault's `vault-memory.toml`, the default. The
field `watch_settle_ms` is `settle_ms` under `[watch]` in the file and `VAULT_MEMORY_WATCH_SETTLE_MS` in the
environment. Secrets are never settings: a setting names the environment variable that holds one.

A `sensitive` setting says where notes or keys go, or what is run, signed or deleted. Its value from the file counts as
unset until this machine has said yes to it: the file may have come from elsewhere. Flags and the environment are the
person's own.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from vault_memory.core import reading, setting_checks
from vault_memory.core.layout import FORMAT, SETTINGS_FILE
from vault_memory.errors import ConfigError

ENV_PREFIX = "VAULT_MEMORY_"
MAX_PROBLEMS, MAX_PROBLEM_CHARS = 20, 1_000
"""How much one error shows: a file may hold any number of wrong settings, and anybody may have written it."""
MAX_NUMBER = 2**53
"""A number up to this is exact as a float, too; TOML has `nan`, `inf` and integers of any length."""
LLM_PROVIDERS = {"openai": "https://api.openai.com/v1", "ollama": "http://localhost:11434/v1"}
"""The base URL of each by its name."""
MAX_SUGGESTED_CHARS = 60
"""A longer unknown key is no misspelt setting."""


def _field(
    default: Any,
    help: str,
    *,
    choices: tuple[str, ...] = (),
    low: float | None = None,
    high: float | None = None,
    check: Callable[[Any], str | None] | None = None,
    sensitive: str = "",
    needs: tuple[str, ...] = (),
    variable: str = "",
    is_spared: bool = False,
) -> Any:
    """One setting. `sensitive` says what its value brings about; `{field}` in it stands for another setting's value.
    A setting counts as unset too while one of those that it `needs` waits for a yes. `variable` is another name of it
    in the environment, weaker than the usual one. A wrong value of one that `is_spared` counts as unset, and is told
    wherever something waits: turns do not depend on it."""
    rules = {"help": help, "choices": choices, "low": low, "high": high, "check": check}
    rules |= {"sensitive": sensitive, "needs": needs, "variable": variable, "is_spared": is_spared}
    if isinstance(default, (dict, list)):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata=rules)
    return dataclasses.field(default=default, metadata=rules)


def _zone_or_none(name: str) -> ZoneInfo | None:
    """The time zone of an IANA name, None if there is no such zone, or no name."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError; the name of a folder an OSError
        return None


class _SystemZone(tzinfo):
    """The time zone of this system, with its summer time. A `ZoneInfo` of it would need its name, which no system has
    to tell."""

    def utcoffset(self, at: datetime | None) -> timedelta | None:
        return at.replace(tzinfo=None).astimezone().utcoffset() if at else None

    def dst(self, at: datetime | None) -> timedelta | None:
        return None

    def tzname(self, at: datetime | None) -> str | None:
        return at.replace(tzinfo=None).astimezone().tzname() if at else None

    def fromutc(self, at: datetime) -> datetime:
        local = at.replace(tzinfo=UTC).astimezone()
        there = local.replace(tzinfo=self)
        return there if there.utcoffset() == local.utcoffset() else there.replace(fold=1)  # an hour that comes twice


def is_zone(name: str) -> bool:
    """Whether there is a time zone of this IANA name."""
    return _zone_or_none(name) is not None


def _check_zone(name: str) -> str | None:
    return None if not name or is_zone(name) else f"must be an IANA time zone such as Asia/Taipei, not {name!r}"


@dataclass(frozen=True)
class Waiting:
    """A sensitive value of the file that waits for a yes: its key in the file, what it brings about, why it waits."""

    key: str
    value: Any
    effect: str
    why: str


Doubts = Callable[[Mapping[str, Any]], Mapping[str, str]]
"""Takes sensitive values by their key in the file; returns which of them are not to be trusted, and why."""


def _doubt_all(values: Mapping[str, Any]) -> Mapping[str, str]:
    return dict.fromkeys(values, "nobody has said yes")


def _check_together(config: Config) -> list[str]:
    """What is wrong with settings that are valid one by one but not together."""
    needed: dict[str, dict[str, Any]] = {}
    if config.embedding_kind == "http":
        needed["embedding.kind is http"] = {
            "embedding.model": config.embedding_model,
            "embedding.endpoints": config.embedding_endpoints,
        }
    return [f"{key} must be set when {why}" for why, keys in needed.items() for key, value in keys.items() if not value]


@dataclass(frozen=True)
class Config:
    """All settings of one vault; lengths of time and sizes carry their unit in the name."""

    format: int = _field(FORMAT, "version of the vault's format; written by `init`")
    locale: str = _field(
        "",
        "language of new profiles and of our headings; empty: profiles name none, headings follow each person's words",
        check=setting_checks.locale,
    )
    timezone: str = _field("", "IANA time zone of users who set none; empty: this system's", check=_check_zone)
    index_dir: str = _field(
        "",
        "folder for the search indexes; empty: beside the notes. Set it if the vault is in a synced folder",
        sensitive="files with the text of every note are written there, and replaced there",
    )

    git_person_name: str = _field(
        "", "author of the person's commits where git has no user.name", check=setting_checks.person
    )
    git_person_email: str = _field("", "e-mail address to go with git.person_name", check=setting_checks.person)
    git_sign: bool = _field(
        False,
        "sign the assistant's commits with the signing key set in git",
        sensitive="git signs each commit with your key and its program; while that fails, commits and syncs wait",
    )
    git_log_commits: str = _field(
        "later",
        'when the entries of a turn in logs are committed: "later", with the next commit or after ten quiet minutes, '
        'or "turn", each in a commit of its own at once',
        check=setting_checks.log_commits,
    )
    git_remote: str = _field(
        "",
        "git remote that the scheduled job `sync` pulls from and pushes to; empty: none",
        sensitive="every note in git and its history is sent there, and merged from there",
    )

    off_record: list[str] = _field([], "users whose turns are never recorded, by id or by a name from identities")

    lexicon: dict[str, Any] = _field(
        {}, "your own technologies and style words; see docs/extraction.md", check=setting_checks.lexicon
    )

    categories: dict[str, Any] = _field(
        {},
        "your own everyday words by category, so that one thing answers for its kind; see docs/categories.md",
        check=setting_checks.categories,
    )

    llm_enabled: bool = _field(
        False,
        "let a language model help: a second look at each turn, memories out of conversations, and `ask`",
        needs=("llm_provider", "llm_base_url", "llm_key_env", "llm_key_file"),
    )
    llm_provider: str = _field(
        "",
        "whose endpoint it is if llm.base_url names none: openai, ollama (on this machine)",
        choices=("", *LLM_PROVIDERS),
        sensitive="turns and profiles are sent there, without secrets and private facts",
    )
    llm_base_url: str = _field(
        "",
        "an OpenAI-compatible endpoint, without /chat/completions: http://localhost:11434/v1",
        sensitive="turns and profiles are sent there, without secrets and private facts",
    )
    llm_model: str = _field("", "name of the model at that endpoint")
    llm_key_env: str = _field(
        "",
        "name of the environment variable that holds the endpoint's key; empty: it needs none",
        sensitive="the key in that variable is sent to {llm_base_url}, or else to llm.provider",
    )
    llm_key_file: str = _field(
        "",
        "a file outside the vault that holds the key instead, and that you alone may read (chmod 600)",
        sensitive="the key in that file is sent to {llm_base_url}, or else to llm.provider",
    )
    llm_timeout_s: float = _field(20.0, "longest time for one question in seconds, retries included", low=0.1, high=600)
    llm_max_tokens: int = _field(2048, "longest response of the model, in tokens", low=64, high=100_000)
    llm_temperature: float = _field(
        0.7, "of answers in words (`ask`), 0 to 2; what it finds or merges is always asked for at 0", low=0, high=2
    )

    archive_days: int = _field(
        90, "days of conversation older than this many days are packed, a month in a file; 0: never", low=0, high=36_500
    )
    archive_retention: str = _field(
        "keep",
        "what becomes of packed months: keep, or delete those that ended more than archive.retention_days ago",
        choices=("keep", "delete"),
        sensitive="packed months of conversation that ended more than {archive_retention_days} days ago are deleted",
        needs=("archive_retention_days",),
    )
    archive_retention_days: int = _field(
        90,
        "how long packed months stay when archive.retention is delete",
        low=1,
        high=36_500,
        sensitive="with archive.retention delete: how long packed months of conversation stay",
    )

    memories_capacity: int = _field(
        5_000,
        "most active memories of a user; with one more the least important expires",
        low=1,
        high=1_000_000,
        sensitive="of a user who has more than {memories_capacity} memories the least important expire",
    )

    memories_from_turns: bool = _field(
        True, "keep the likes, facts and decisions that are said in conversation, unasked, as memories of 7 days"
    )

    graph_missing_entity: str = _field(
        "stub",
        "a relation to an entity that is not there: stub makes it, without a type; refuse stores nothing",
        choices=("stub", "refuse"),
    )

    shortterm_redis_url: str = _field(
        "",
        "a Redis without a password that holds the last turns, too, such as redis://localhost:6379/0; with a password "
        "set the environment variable REDIS_URL instead",
        check=setting_checks.redis_url,
        sensitive="turns are sent there, without secrets, and programs that read it read them",
        is_spared=True,
    )
    shortterm_ttl_s: int = _field(
        172_800,
        "how long the last turn of a conversation stays at hand, in seconds",
        low=1,
        high=31_536_000,
        variable="MEMORY_REDIS_TTL_SECONDS",
        is_spared=True,
    )

    longterm_enabled: bool = _field(
        False,
        "send every turn to the tables of a PostgreSQL, such as Supabase's",
        sensitive="turns are written to a database, without secrets: that of SUPABASE_DB_URL or longterm.url",
        needs=("longterm_url", "longterm_tables", "longterm_columns_map"),
        is_spared=True,
    )
    longterm_url: str = _field(
        "",
        "a PostgreSQL without a password, such as postgresql://me@localhost/app; with a password set the environment "
        "variable SUPABASE_DB_URL instead",
        check=setting_checks.database_url,
        sensitive="turns are written there, without secrets, with what libpq knows of you: PGPASSWORD, ~/.pgpass",
        is_spared=True,
    )
    longterm_tables: dict[str, str] = _field(
        {},
        "your table for conversations (every turn) and for memories (what was reflected on a turn), or one of them",
        check=setting_checks.longterm_tables,
        sensitive="turns are written to these tables, and rows of the same conversation and time are replaced there",
        variable="MEMORY_TABLE_MAP",
        is_spared=True,
    )
    longterm_columns_map: dict[str, str] = _field(
        {},
        "your column for each field; a field that is not here is not written, so no text is, unless you map it",
        check=setting_checks.longterm_columns,
        sensitive="these fields of turns are written to these columns",
        is_spared=True,
    )
    longterm_batch_size: int = _field(
        100,
        "turns that are sent at a time",
        low=1,
        high=5_000,
        variable="MEMORY_FLUSH_BATCH_SIZE",
        is_spared=True,
    )

    tokens_encoding: str = _field(
        "cl100k_base",
        "the encoding of tiktoken's that turns texts into tokens; without tiktoken their bytes are the tokens",
        variable="TOKENIZER_NAME",
        is_spared=True,
    )

    schedule: dict[str, str] = _field(
        {},
        "when jobs run, by name: 03:00, an interval such as 15m, or off; see docs/daemon.md",
        check=setting_checks.schedule,
    )

    watch_settle_ms: int = _field(400, "quiet time after an edit before it is indexed", low=0, high=60_000)
    watch_commit_quiet_ms: int = _field(
        5_000, "quiet time before an edit is committed as the person's", low=0, high=86_400_000
    )
    watch_cap_ms: int = _field(
        10_000, "a file that keeps changing is indexed at least this often", low=100, high=86_400_000
    )

    embedding_kind: str = _field(
        "offline",
        "what makes vectors: offline (hashed words, no model), http (an endpoint) or local (a model on this machine)",
        choices=("offline", "http", "local"),
        sensitive="with local a model is downloaded and loaded, with http notes are sent to its endpoints",
        needs=("embedding_model", "embedding_endpoints"),
    )
    embedding_model: str = _field(
        "",
        "name of the model; empty with local: a small multilingual one",
        sensitive="with embedding.kind {embedding_kind}: the model that is asked, or downloaded and loaded",
    )
    embedding_endpoints: list[dict[str, str]] = _field(
        [],
        "where the model is served, the preferred one first: {url, key_env}",
        check=setting_checks.endpoints,
        sensitive="notes and questions are sent there, without secrets and private facts, and so is a key_env's key",
    )
    embedding_query_prefix: str = _field("", "text that the model expects before a query: e5 models 'query: '")
    embedding_document_prefix: str = _field("", "text that the model expects before a passage: e5 models 'passage: '")
    embedding_timeout_s: float = _field(
        60.0, "longest time of an endpoint for 64 passages, retries included", low=0.1, high=600
    )
    embedding_query_timeout_ms: int = _field(
        300, "longest time a search waits for its query's vector before it goes on without", low=10, high=60_000
    )

    prompt_tokens: int = _field(
        8_000, "most tokens of a built prompt, estimated; the request itself is never cut", low=200, high=1_000_000
    )

    identities: dict[str, str] = _field(
        {}, "names that other programs use for people: outside name -> user id", check=setting_checks.identities
    )

    serve_port: int = _field(8765, "port of the HTTP server; 0: any free one", low=0, high=65_535)
    serve_hosts: list[str] = _field(
        [],
        "host names by which others reach the server; localhost is always allowed",
        check=setting_checks.hosts,
        sensitive="web pages of these names may call the server, and `serve --public` may listen to others",
    )
    serve_origins: list[str] = _field(
        [],
        "web pages and apps whose programs may call the server, by their origin, such as app://obsidian.md",
        check=setting_checks.origins,
        sensitive="web pages and apps of these origins may call the server with a token, and read what it answers",
    )
    serve_rate: int = _field(300, "most requests a second from one caller", low=1, high=100_000)
    serve_body_mb: int = _field(32, "largest request to the chat proxy, in megabytes", low=1, high=1_000)

    upstream_base_url: str = _field(
        "",
        "OpenAI-compatible provider behind the chat proxy, without /chat/completions",
        check=setting_checks.base_url,
        sensitive="chats are sent there, with the memory in them",
    )
    upstream_key_env: str = _field(
        "",
        "name of the environment variable that holds its key; empty: it needs none",
        sensitive="the key in that variable is sent to {upstream_base_url}",
    )
    upstream_anthropic_url: str = _field(
        "",
        "Anthropic-compatible provider behind the chat proxy, without /messages",
        check=setting_checks.base_url,
        sensitive="chats are sent there, with the memory in them",
    )
    upstream_anthropic_key_env: str = _field(
        "",
        "name of the environment variable that holds its key",
        sensitive="the key in that variable is sent to {upstream_anthropic_url}",
    )
    upstream_timeout_s: float = _field(
        300.0, "longest time in seconds that a provider may send nothing", low=0.1, high=3_600
    )

    proxy_memory_tokens: int = _field(
        1_500, "most tokens of memory put into a request, estimated", low=50, high=100_000
    )
    proxy_memory_timeout_ms: int = _field(
        1_000, "longest time a request waits for its memory before it is sent without", low=10, high=60_000
    )
    proxy_housekeeping: list[str] = _field(
        [],
        "regular expressions for more requests that a client makes on its own, such as titles",
        check=setting_checks.patterns,
        sensitive="they are matched against every request, and a hostile one never ends",
    )

    proxy_asides: list[str] = _field(
        [],
        "regular expressions for more texts that a client puts beside the person's words, from their beginning",
        check=setting_checks.patterns,
        sensitive="they are matched against every request, and a hostile one never ends",
    )

    search_weight: str = _field(
        "auto",
        "weight of vectors against keywords: auto (by what the model knows of the notes) or fixed",
        choices=("auto", "fixed"),
    )
    search_vector_weight: float = _field(0.7, "weight of the vectors when search.weight is fixed", low=0, high=1)
    search_synonyms: list[list[str]] = _field(
        [],
        'your own words of one meaning, beside the shipped ones: [["k8s", "kubernetes"], …]; see docs/search.md',
        check=setting_checks.word_groups,
    )

    waiting: tuple[Waiting, ...] = ()
    """Not a setting: the sensitive values of the file that are not in force, because they wait for a yes."""
    spared: tuple[tuple[str, str], ...] = ()
    """Not a setting: (key, what is wrong with its value, in words) of those that count as unset because of that."""

    @classmethod
    def load(
        cls, file: Path, environ: Mapping[str, str] = os.environ, doubts: Doubts = _doubt_all, **flags: Any
    ) -> Config:
        """Settings of the vault whose `vault-memory.toml` is `file` (a missing file gives the defaults).

        `flags` are values from a command line; None means not given. `doubts` is asked once about the sensitive values
        of the file, if it has any. An empty variable of the environment is none. Raises one `ConfigError` that lists
        every unknown key and wrong value, each with its line or the name of its environment variable; `spared` has
        those that hinder nothing.
        """
        return cls.parse(_read(file), file, environ, doubts, **flags)

    @classmethod
    def parse(
        cls, text: str, file: Path, environ: Mapping[str, str], doubts: Doubts = _doubt_all, **flags: Any
    ) -> Config:
        """Settings as `load` gives them, from a text that the file holds or is to hold."""
        problems: list[str] = []
        spared: dict[str, str] = {}
        values: dict[str, Any] = {}
        lines = _lines_of(text)

        def take(name: str, value: Any, where: str) -> None:
            problem = _problem(name, value)
            if not problem:
                values[name] = float(value) if _TYPES[name] is float else value
                spared.pop(name, None)
            elif _FIELDS[name].metadata["is_spared"]:
                values.pop(name, None)
                spared[name] = f"{where}: {_KEYS[name]} {problem}"[:MAX_PROBLEM_CHARS] + "; it counts as unset"
            else:
                problems.append(f"{where}: {_KEYS[name]} {problem}")

        for key, value in _flatten(_parse(text, file)).items():
            name = key.replace(".", "_")
            where = f"{file.name}:{lines.get(key, 1)}"
            if key in _FORMER_KEYS:
                continue
            if name not in _FIELDS or key != _KEYS[name]:
                hint = _suggest(key) if len(problems) < MAX_PROBLEMS else ""
                problems.append(f"{where}: unknown setting {key!r}{hint}")
            else:
                take(name, value, where)
        in_file = set(values)
        for name, field in _FIELDS.items():
            given = [each for each in (ENV_PREFIX + name.upper(), field.metadata["variable"]) if environ.get(each)]
            for variable in given[:1]:
                take(name, _from_text(name, environ[variable]), f"environment variable {variable}")
                in_file.discard(name)
        for name, value in flags.items():
            if value is not None:
                take(name, value, f"--{name.replace('_', '-')}")
                in_file.discard(name)
        if values.get("format", FORMAT) > FORMAT:
            problems = [
                f"{file}: this vault has format {values['format']}, newer than {FORMAT}, the newest that this "
                "vault-memory can read: upgrade vault-memory"
            ]
        waiting = _take_out_doubted(values, in_file, doubts)
        if values.get("longterm_enabled") and (lacking := _lacking_for_long_term(values, spared)):
            del values["longterm_enabled"]
            spared["longterm_enabled"] = (
                f"longterm.enabled is true without a valid {lacking}: nothing is sent until then"
            )
        config = cls(**values, waiting=waiting, spared=tuple((_KEYS[name], why) for name, why in spared.items()))
        if problems := problems or _check_together(config):
            more = [f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []
            shown = (problem[:MAX_PROBLEM_CHARS] for problem in problems[:MAX_PROBLEMS])
            raise ConfigError("\n".join([*shown, *more]))
        return config

    def waits(self) -> list[str]:
        """Lines for people about all values that are not in force."""
        return [*self.asks(), *(why for _, why in self.spared)]

    def asks(self) -> list[str]:
        """A line for people about the values that wait for a yes, if there are any."""
        by_reason: dict[str, list[str]] = {}
        for value in self.waiting:
            by_reason.setdefault(value.why, []).append(value.key)
        return [
            f"{', '.join(keys)} in {SETTINGS_FILE} not in force: {why}; `vault-memory trust` shows and asks"
            for why, keys in by_reason.items()
        ]

    def is_off_record(self, *user_ids: str) -> bool:
        """Whether one of these users is off the record, by any name that the settings have for them."""
        named = (*self.off_record, *(self.identities.get(name, name) for name in self.off_record))
        return not {*map(str.casefold, user_ids)}.isdisjoint(map(str.casefold, named))

    def is_waiting(self, table: str) -> bool:
        """Whether a value of a table of the file (`llm`) is not in force."""
        keys = [*(value.key for value in self.waiting), *(key for key, _ in self.spared)]
        return any(key.startswith(f"{table}.") for key in keys)

    def llm_address(self) -> str:
        """The base URL of the language model: the one set, else its provider's; "" for none."""
        return self.llm_base_url or LLM_PROVIDERS.get(self.llm_provider, "")

    def zone(self, name: str | None = None) -> tzinfo:
        """The time zone `name` if there is one of that name, else the configured one, else this system's."""
        return _zone_or_none(name or "") or _zone_or_none(self.timezone) or _SYSTEM_ZONE


_SYSTEM_ZONE = _SystemZone()
_ARTICLES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
_FORMER_KEYS = {"git.conversations"}
"""Settings of earlier versions, which are ignored: a vault that has one still opens."""
_FIELDS = {field.name: field for field in dataclasses.fields(Config) if field.metadata}
_TYPES = get_type_hints(Config)
# Each key of these tables is a setting; any other table is the value of one setting.
_TABLES = (
    "git",
    "llm",
    "archive",
    "memories",
    "graph",
    "shortterm",
    "longterm",
    "tokens",
    "watch",
    "embedding",
    "search",
    "prompt",
    "serve",
    "upstream",
    "proxy",
)
_MAX_FILE_BYTES = 4 * reading.MAX_TOML_CHARS
_SENSITIVE = [name for name, field in _FIELDS.items() if field.metadata["sensitive"]]
_KEYS = {name: name.replace("_", ".", 1) if name.split("_")[0] in _TABLES else name for name in _FIELDS}
"""Field name → key in the file: `watch_settle_ms` → `watch.settle_ms`."""


def describe() -> list[tuple[str, Any, str]]:
    """(key in the file, default, help) of every setting, in order."""
    empty = Config()
    return [(_KEYS[name], getattr(empty, name), field.metadata["help"]) for name, field in _FIELDS.items()]


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_FILE_BYTES + 1)
        if len(data) > _MAX_FILE_BYTES:
            raise ConfigError(f"{file} has more than {_MAX_FILE_BYTES:,} bytes: correct it or restore it with git")
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read ({error}): correct it or restore it with git") from error


def _parse(text: str, file: Path) -> dict[str, Any]:
    try:
        return reading.toml_table(text)
    except ValueError as error:
        is_twice = str(error).startswith("Cannot declare")
        more = ": the section stands further up already, put these lines there" if is_twice else ""
        raise ConfigError(f"{file} is not valid TOML: {error}{more}") from error


def _flatten(table: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of the tables in `_TABLES` joined to their table's name with a dot; other tables stay values."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and key in _TABLES:
            flat.update({f"{key}.{inner}": v for inner, v in value.items()})
        else:
            flat[key] = value
    return flat


def _lines_of(text: str) -> dict[str, int]:
    """Key → its 1-based line in the file; of a table, the line of its header."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(reading.lines(text), 1):
        bare = line.strip()
        name, sign, _ = bare.partition("=")
        if bare.startswith("["):
            table = bare.lstrip("[").partition("]")[0].strip()
            found.setdefault(table.partition(".")[0], number)
        elif sign:
            found.setdefault(".".join(filter(None, (table, name.strip().strip("\"'")))), number)
    return found


def _suggest(key: str) -> str:
    import difflib

    near = difflib.get_close_matches(key, _KEYS.values(), n=1) if len(key) <= MAX_SUGGESTED_CHARS else ()
    return f"; did you mean {near[0]!r}?" if near else ""


def _from_text(name: str, text: str) -> Any:
    """The text of an environment variable as the setting's type; `_take` refuses text that does not fit."""
    kind = _TYPES[name]
    try:
        if kind is bool:
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
        if kind in (int, float):
            return kind(text)
        if get_origin(kind) is dict and text.lstrip().startswith("{") and (table := _json_object(text)) is not None:
            return table
        if kind is not str:
            return reading.toml_table(f"value = {text}")["value"]
    except (KeyError, ValueError):
        pass
    return text


def _json_object(text: str) -> dict[str, Any] | None:
    """The object of a JSON text: programs write a table in a variable so; None for what is no JSON, as TOML's is."""
    try:
        value = reading.json_value(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _problem(name: str, value: Any) -> str:
    """What is wrong with a value for a setting; "" for nothing."""
    kind, rules = _TYPES[name], _FIELDS[name].metadata
    wanted = get_origin(kind) or kind
    if not all(abs(number) <= MAX_NUMBER for number in _numbers(value)):  # of nan every comparison is false
        return f"must have numbers that are finite, at most {MAX_NUMBER}"
    is_of_type = type(value) is wanted or (wanted is float and type(value) is int)
    if not is_of_type or (get_args(kind) and not _fits(value, kind)):
        article = _ARTICLES.get(wanted, str(kind))
        if wanted is dict and isinstance(value, str):
            article = f'a table, in a variable as JSON such as {{"a": "b"}} without quotes around it ({kind})'
        return f"must be {article}, not {value!r}"
    if rules["choices"] and value not in rules["choices"]:
        return f"must be one of {', '.join(rules['choices'])}, not {value!r}"
    if (rules["low"] is not None and value < rules["low"]) or (rules["high"] is not None and value > rules["high"]):
        bounds = f"at least {rules['low']}" if rules["high"] is None else f"between {rules['low']} and {rules['high']}"
        return f"must be {bounds}, not {value!r}"
    return (rules["check"](value) if rules["check"] else None) or ""


def _lacking_for_long_term(values: Mapping[str, Any], spared: Mapping[str, str]) -> str:
    """The keys without which no turn can be sent, in words; "" for none. The address may be in a variable, too."""
    needed = _FIELDS["longterm_enabled"].metadata["needs"]
    lacking = [name for name in needed if name in spared or (name != "longterm_url" and not values.get(name))]
    return " and ".join(_KEYS[name] for name in lacking)


def _numbers(value: Any) -> Iterator[int | float]:
    """Every number in a value: itself, or those in a list or table, which `reading.toml_table` keeps shallow."""
    if isinstance(value, (int, float)):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)


def _take_out_doubted(values: dict[str, Any], in_file: set[str], doubts: Doubts) -> tuple[Waiting, ...]:
    """Take the doubted values, and what needs them, out of `values`; `in_file` names those that the file gave."""
    defaults = Config()
    asked = {n: values[n] for n in _SENSITIVE if n in in_file and n in values and values[n] != getattr(defaults, n)}
    if not asked:
        return ()
    doubted = doubts({_KEYS[name]: value for name, value in asked.items()})
    shown = {name: values.get(name, getattr(defaults, name)) or "nothing yet" for name in _FIELDS}
    waiting = {
        name: Waiting(_KEYS[name], value, _FIELDS[name].metadata["sensitive"].format(**shown), doubted[_KEYS[name]])
        for name, value in asked.items()
        if _KEYS[name] in doubted
    }
    needing = [name for name, field in _FIELDS.items() if not waiting.keys().isdisjoint(field.metadata["needs"])]
    for name in (*waiting, *needing):
        values.pop(name, None)
    return tuple(waiting.values())


def _fits(value: Any, kind: Any) -> bool:
    """Whether the members of a list or table have the declared type (`list[str]`, `dict[str, str]`)."""
    members = value.values() if isinstance(value, dict) else value
    inner = get_args(kind)[-1]
    wanted = get_origin(inner) or inner
    return wanted is Any or all(isinstance(member, wanted) for member in members)
