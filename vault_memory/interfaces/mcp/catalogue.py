"""All tools, by toolset. A new one is a line in the table of its subject."""

from __future__ import annotations

from collections.abc import Iterable

from vault_memory.errors import UsageError
from vault_memory.interfaces.mcp.tool import DEFAULT_TOOLSETS, TOOLSETS, Tool


def checked_toolsets(names: Iterable[str]) -> frozenset[str]:
    """These names. Raises `UsageError` for one that is no toolset, and for none at all."""
    wanted = frozenset(names)
    if unknown := sorted(wanted - {*TOOLSETS}):
        raise UsageError(f"there is no toolset {unknown[0][:60]!r}; there are {', '.join(TOOLSETS)}")
    if not wanted:
        raise UsageError(f"no toolset is named; there are {', '.join(TOOLSETS)}")
    return wanted


def tools(toolsets: Iterable[str] = DEFAULT_TOOLSETS) -> dict[str, Tool]:
    """The tools of these sets, by name, in the order of the table. Raises `UsageError` as `checked_toolsets`."""
    # each brings its services
    from vault_memory.interfaces.mcp import forgetting_tools, memory_tools, profile_tools, vault_tools

    wanted = checked_toolsets(toolsets)
    found = [*memory_tools.TOOLS, *forgetting_tools.TOOLS, *profile_tools.TOOLS, *vault_tools.TOOLS]
    if "buddy" in wanted:
        from vault_memory.interfaces.mcp import buddy_tools

        found += buddy_tools.TOOLS
    return {tool.name: tool for tool in found if tool.toolset in wanted}
