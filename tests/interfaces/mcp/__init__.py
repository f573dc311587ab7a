"""Tests of the MCP interface, with the SDK's own client."""
