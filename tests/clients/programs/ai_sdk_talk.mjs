// The AI SDK's `openai()` with one tool: it speaks OpenAI's responses.
import { readFileSync } from "node:fs";
import { createOpenAI } from "@ai-sdk/openai";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const openai = createOpenAI({ baseURL: "http://localhost:8765/v1", apiKey: "vault_alice_…" });
const readFile = tool({
  description: "Read a file",
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }) => readFileSync(path, "utf8"),
});
const messages = [];
for (const content of [
  "I prefer a dark theme for everything you build. What does notes.txt say?",
  "以後都用繁體中文回答我。notes.txt 有幾行？",
  "我喜欢简洁的回答。再看一次 notes.txt。",
]) {
  messages.push({ role: "user", content });
  const result = streamText({ model: openai("gpt-5"), messages, tools: { readFile }, stopWhen: stepCountIs(5) });
  await result.consumeStream();
  messages.push(...(await result.response).messages);
}
