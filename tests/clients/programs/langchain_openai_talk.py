"""Three answers in the form of a class, by function calling."""

from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class Tea(BaseModel):
    """What is known of a tea."""

    name: str
    degrees: int


model = ChatOpenAI(model="m").with_structured_output(Tea, method="function_calling")
for words in (
    "I prefer a dark theme for everything you build. What does notes.txt say?",
    "以後都用繁體中文回答我。notes.txt 有幾行？",
    "我喜欢简洁的回答。再看一次 notes.txt。",
):
    model.invoke(words)
