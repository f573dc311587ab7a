"""A person's Markdown as resources, `memory://alice/USER.md`, and word of their changes to whoever has subscribed."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from vault_memory.core import layout
from vault_memory.errors import VaultMemoryError
from vault_memory.interfaces.mcp.tool import Person, shown
from vault_memory.services import notes

SCHEME = "memory://"
MIME = "text/markdown"
PAGE = 100
MAX_URI_CHARS = 4_000
"""A path of some thousand characters, each written as three."""
LOOK_EVERY_S = 1.0
MAX_SUBSCRIPTIONS = 1_000
"""Of all clients together; one more ends the oldest."""


def uri_of(user_id: str, source: str) -> str:
    """The address of a note."""
    return f"{SCHEME}{user_id}/{quote(source)}"


def source_of(person: Person, uri: str) -> str:
    """The note that an address of this person names. Raises `MCPError` for any other address: whose it is, or whether
    it is anybody's, is not told."""
    own = f"{SCHEME}{person.user_id}/"
    if not uri.startswith(own) or uri == own or len(uri) > MAX_URI_CHARS:
        raise MCPError(INVALID_PARAMS, f"there is no such resource: resources/list shows those of {own}")
    return unquote(uri.removeprefix(own))


def listed(person: Person, cursor: str | None) -> ListResourcesResult:
    """A page of the person's notes. The cursor is the path after which it begins, so none is left out when others come
    or go. Raises `MCPError` for a cursor that is none."""
    found = notes.note_sources(person.vault, person.user_id)
    if cursor is not None and not cursor.endswith(".md"):
        raise MCPError(INVALID_PARAMS, "this cursor is not one of ours: leave it out for the first page")
    after = None if cursor is None else (cursor != layout.PROFILE, cursor)
    rest = [source for source in found if after is None or (source != layout.PROFILE, source) > after]
    page = rest[:PAGE]
    return ListResourcesResult(
        resources=[Resource(uri=uri_of(person.user_id, source), name=source, mime_type=MIME) for source in page],
        next_cursor=page[-1] if len(rest) > PAGE else None,
    )


def templates(person: Person) -> ListResourceTemplatesResult:
    """What addresses look like."""
    own = f"{SCHEME}{person.user_id}/"
    return ListResourceTemplatesResult(
        resource_templates=[
            ResourceTemplate(uri_template=own + "daily/{day}.md", name="daily", mime_type=MIME),
            ResourceTemplate(uri_template=own + "{+path}", name="note", mime_type=MIME),
        ]
    )


def read(person: Person, uri: str) -> ReadResourceResult:
    """What a note says, as a tool would show it. Raises `MCPError` and what `read_note` raises."""
    note = notes.read_note(person.vault, person.user_id, source_of(person, uri))
    text = shown(note.content, person.vault)
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MIME, text=text)])


_Seen = tuple[str, tuple[int, ...] | None]


@dataclass
class _Subscription:
    person: Person
    source: str
    tell: Callable[[], Awaitable[None]]
    seen: _Seen = field(init=False)

    def __post_init__(self) -> None:
        self.seen = self.look()

    def look(self) -> _Seen:
        """As the note is now. The person's id by now is part of it: a client that is told of a change after a renaming
        learns what the address is now by reading the old one."""
        user_id, _ = self.person.vault.id_now(self.person.user_id, self.person.as_of)
        return user_id, notes.note_stamp(self.person.vault, user_id, self.source)


class Changes:
    """Looks at the notes that somebody has subscribed to, and tells when one was saved. Used on one event loop."""

    def __init__(self, every_s: float = LOOK_EVERY_S) -> None:
        self._every_s = every_s
        self._subscriptions: OrderedDict[object, _Subscription] = OrderedDict()

    def subscribe(self, key: object, person: Person, uri: str, tell: Callable[[], Awaitable[None]]) -> None:
        """Have `tell` called after each change. Raises `MCPError` for an address that is not the person's."""
        self._subscriptions[key] = _Subscription(person, source_of(person, uri), tell)
        while len(self._subscriptions) > MAX_SUBSCRIPTIONS:
            self._subscriptions.popitem(last=False)

    def unsubscribe(self, key: object) -> None:
        """Tell no more; nothing happens if nothing was told."""
        self._subscriptions.pop(key, None)

    @contextmanager
    def subscribed(self, person: Person, uris: list[str], tell: Callable[[str], Awaitable[None]]) -> Iterator[None]:
        """While it is open, tell of changes at these addresses. Raises as `subscribe`."""
        keys = {uri: object() for uri in uris}
        try:
            for uri, key in keys.items():
                self.subscribe(key, person, uri, lambda uri=uri: tell(uri))  # type: ignore[misc]
            yield
        finally:
            for key in keys.values():
                self.unsubscribe(key)

    async def watch(self) -> None:
        """Look again and again, until it is cancelled. Whom nothing can be told any more is not told again."""
        while True:
            await asyncio.sleep(self._every_s)
            for key, each in list(self._subscriptions.items()):
                try:
                    stamp = await anyio.to_thread.run_sync(each.look)
                except (OSError, VaultMemoryError):  # the vault is gone for now
                    continue
                if stamp == each.seen or self._subscriptions.get(key) is not each:
                    continue
                each.seen = stamp
                told = False
                with suppress(Exception), anyio.move_on_after(self._every_s):  # its client has left, or reads nothing
                    await each.tell()
                    told = True
                if not told:
                    self.unsubscribe(key)
