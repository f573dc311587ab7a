"""A `ToolCallingAgent` with one tool, asked three times."""

from pathlib import Path

from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
def read_file(path: str) -> str:
    """Read a file.

    Args:
        path: the file's path
    """
    return Path(path).read_text()


model = OpenAIServerModel("MODEL", api_base="http://localhost:8765/v1", api_key="vault_alice_…")
agent = ToolCallingAgent(tools=[read_file], model=model)
agent.run("I prefer a dark theme for everything you build. What does notes.txt say?")
agent.run("以後都用繁體中文回答我。notes.txt 有幾行？", reset=False)
agent.run("我喜欢简洁的回答。再看一次 notes.txt。", reset=False)
