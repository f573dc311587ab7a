"""Three answers in the form of a class, which are forced tool calls."""

import instructor
from openai import OpenAI
from pydantic import BaseModel


class Tea(BaseModel):
    """What is known of a tea."""

    name: str
    degrees: int


client = instructor.from_openai(OpenAI())
for words in (
    "I prefer a dark theme for everything you build. What does notes.txt say?",
    "以後都用繁體中文回答我。notes.txt 有幾行？",
    "我喜欢简洁的回答。再看一次 notes.txt。",
):
    client.chat.completions.create(model="m", response_model=Tea, messages=[{"role": "user", "content": words}])
