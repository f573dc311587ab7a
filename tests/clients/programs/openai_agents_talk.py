"""An agent with one tool, in one session, through OpenAI's responses."""

import asyncio
from pathlib import Path

from agents import Agent, Runner, SQLiteSession, function_tool, set_tracing_disabled

set_tracing_disabled(True)


@function_tool
def read_file(path: str) -> str:
    """Read a file."""
    return Path(path).read_text()


async def main() -> None:
    agent = Agent(name="Reader", instructions="You read files.", tools=[read_file], model="gpt-5")
    session = SQLiteSession("one")
    for words in (
        "I prefer a dark theme for everything you build. What does notes.txt say?",
        "以後都用繁體中文回答我。notes.txt 有幾行？",
        "我喜欢简洁的回答。再看一次 notes.txt。",
    ):
        result = Runner.run_streamed(agent, words, session=session)
        async for _ in result.stream_events():
            pass


asyncio.run(main())
