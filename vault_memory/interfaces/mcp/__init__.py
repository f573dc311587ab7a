"""The MCP interface: the memory as tools, resources and a prompt for assistants that speak the Model Context Protocol,
over stdio and over HTTP. Its dependency comes with the extra `mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.interfaces.mcp.endpoint import Endpoint
    from vault_memory.interfaces.mcp.stdio import serve_stdio

__all__ = ["Endpoint", "serve_stdio"]

__getattr__ = lazy_exports(__name__, {"Endpoint": "endpoint", "serve_stdio": "stdio"})
