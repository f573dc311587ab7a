"""A `ToolCallingAgent` with one tool, asked three times."""

import os
from pathlib import Path

from smolagents import OpenAIServerModel, ToolCallingAgent, tool


@tool
def read_file(path: str) -> str:
    """Read a file.

    Args:
        path: the file's path
    """
    return Path(path).read_text()


model = OpenAIServerModel("m", api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
agent = ToolCallingAgent(tools=[read_file], model=model)
agent.run("I prefer a dark theme for everything you build. What does notes.txt say?")
agent.run("以後都用繁體中文回答我。notes.txt 有幾行？", reset=False)
agent.run("我喜欢简洁的回答。再看一次 notes.txt。", reset=False)
