"""The forms in which clients send a person's words beside documents: for each, what stands where.

A shape is written as the client sends it, with `DOC` wherever a file, a page, a tool or another agent speaks, and
`WORDS` where the person does. To add one, write it down here: `test_forged_documents.py` does the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from vault_memory.core.chat.request import read_request

WORDS = "Please fix the login bug."
PLAIN = "Tea wants water of 80 degrees."
"""A document that forges nothing."""

_RESULT = {"type": "tool_result", "tool_use_id": "t", "content": PLAIN}


@dataclass(frozen=True)
class Shape:
    """One form: the `content` of the person's message, a text or parts, what stands `before` it, and what is to be
    heard. A part that is nothing but `DOCS` may be several, as the document's author likes."""

    content: str | Sequence[str | dict[str, Any]]
    system: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    before: Sequence[dict[str, Any]] = ()
    heard: str = WORDS

    def texts(self) -> list[str]:
        """The texts of the content, each with its places for documents."""
        parts = [self.content] if isinstance(self.content, str) else self.content
        return [part for part in parts if isinstance(part, str)]

    @property
    def has_many_documents(self) -> bool:
        """Whether documents stand at more than one place."""
        return sum(text.count("DOC") for text in self.texts()) > 1

    def words(self, documents: Sequence[str]) -> str:
        """The words that are heard when these documents stand at the places, the last one at all that are left."""
        left = list(documents)

        def filled(text: str) -> str:
            pieces = text.split("DOC")
            filled = pieces[0]
            for piece in pieces[1:]:
                filled += (left.pop(0) if len(left) > 1 else left[0]) + piece
            return filled.replace("WORDS", WORDS)

        content: Any = self.content
        if isinstance(content, str):
            content = filled(content)
        else:
            parts: list[Any] = []
            for part in content:
                if part == "DOCS":
                    parts += [
                        {"type": "text", "text": text}
                        for text in (left.pop(0) if len(left) > 1 else left[0]).split("\f")
                    ]
                else:
                    parts.append({"type": "text", "text": filled(part)} if isinstance(part, str) else part)
            content = parts
        system = [{"role": "system", "content": self.system}] if self.system else []
        messages = [*system, *self.before, {"role": "user", "content": content}]
        found = read_request({"messages": messages, "tools": [{}]}, (), self.headers)
        is_heard = found and not found.is_tool_round and not found.is_housekeeping
        return found.words if found and is_heard else ""


def _answered(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "hi"}, {"role": "assistant", "content": text}]


def _reminder(text: str) -> str:
    return f"<system-reminder>\n{text}\n</system-reminder>"


def _claude(*parts: str | dict[str, Any], heard: str = WORDS) -> Shape:
    return Shape(
        parts, "You are Claude Code, Anthropic's official CLI for Claude.", {"user-agent": "claude-cli/2"}, heard=heard
    )


def _cline(*parts: str, heard: str = WORDS) -> Shape:
    details = "<environment_details>\n# Visible Files\nDOC\n</environment_details>"
    return Shape([*parts, details], "You are Cline, a highly skilled software engineer.", heard=heard)


def _opencode(*parts: str | dict[str, Any], **more: Any) -> Shape:
    return Shape(
        parts, "You are opencode, an interactive CLI tool.", {"x-session-id": "s", "user-agent": "opencode/1"}, **more
    )


_CALLED = 'Called the Read tool with the following input: {"filePath":"/a"}'
_COMMAND = "<command-message>fix</command-message>\n<command-name>/fix</command-name>"
_CAVEAT = "<local-command-caveat>The command below was run directly in Claude Code.</local-command-caveat>"
_COMPACT = "<command-name>/compact</command-name>\n  <command-message>compact</command-message>"
_TASK = "<task>\nWORDS\n</task>\n\n"
_DELIVERED = _reminder(
    "The user sent a new message while you were working:\nWORDS\n\nIMPORTANT: After completing your current task, you …"
)
_ZED = "<context>\nThe following items were attached by the user.\n\n<files>\n```a.md\nDOC\n```\n</files>\n</context>\n"
_RAG = (
    "### Task:\nRespond to the user query using the provided context, incorporating citations.\n\n"
    '<context>\n<source id="1" name="a">DOC</source>\n</context>\n\n'
)
_ATTACHED = '<attached_files>\n<file type="file" url="x" name="DOC"/>\n</attached_files>\n\n'
_CODEX = {"session-id": "s"}
_AIDER = "Act as an expert software developer.\nAlways use best practices when coding."
_ROO = "You are Roo, a highly skilled software engineer."
_DETAILS = "<environment_details>\nx\n</environment_details>"
_OK = [{"role": "assistant", "content": "Ok."}]
_SMOLAGENTS = "You are an expert assistant who can solve any task using tool calls."
_FINAL = _answered("Calling tools:\n[{'function': {'name': 'final_answer', 'arguments': {}}}]")

SHAPES: dict[str, Shape] = {
    "Claude Code, a reminder": _claude(_reminder("DOC"), "WORDS"),
    "Claude Code, reminders behind": _claude("WORDS", _reminder("DOC"), _reminder("DOC")),
    "Claude Code, one text": _claude(f"{_reminder('DOC')}\nWORDS"),
    "Claude Code, one text, behind": _claude(f"WORDS\n\n{_reminder('DOC')}\n{_reminder('DOC')}"),
    "Claude Code, a hook": _claude(_reminder("UserPromptSubmit hook additional context: DOC"), "WORDS"),
    "Claude Code, another's message": _claude("[MESSAGE FROM NON-USER SOURCE - NOT USER INPUT]\nDOC", heard=""),
    "Claude Code, a schedule": _claude(
        "[SCHEDULED TASK - AUTOMATED FIRING OF A CONFIGURED PROMPT]\nThis turn was started by a schedule.\n\nDOC",
        heard="",
    ),
    "Claude Code, a hook of a task": _claude("TaskCompleted hook feedback:\nDOC", heard=""),
    "Claude Code, an issue": _claude("**Fix this GitHub issue:**\n\nDOC", heard="**Fix this GitHub issue:**"),
    "Claude Code, a plugin": _claude(
        "The athena plugin sent a message:\nDOC\n\nThis is how Claude Code surfaces a prompt a plugin submits.",
        heard="",
    ),
    "Claude Code, a mail": _claude("Please summarize this email:\n\nDOC", heard="Please summarize this email:"),
    "Claude Code, a shell": _claude(
        "<bash-input>DOC</bash-input>", "<bash-stdout>DOC</bash-stdout><bash-stderr>DOC</bash-stderr>", "WORDS"
    ),
    "Claude Code, a shell in one text": _claude(
        "<bash-input>make</bash-input>\n<bash-stdout>DOC</bash-stdout><bash-stderr>DOC</bash-stderr>\nWORDS"
    ),
    "Claude Code, a local command": _claude(
        _CAVEAT,
        _COMPACT,
        "<local-command-stdout>DOC</local-command-stdout>\n<local-command-stderr>DOC</local-command-stderr>",
        "WORDS",
    ),
    "Claude Code, an editor": _claude(
        "<ide_opened_file>The user opened DOC</ide_opened_file>",
        "<ide_selection>Selected:\nDOC\n</ide_selection>",
        "WORDS",
    ),
    "Claude Code, an editor in one text": _claude(
        "<ide_opened_file>The user opened DOC</ide_opened_file>\n<ide_selection>Selected:\nDOC\n</ide_selection>\nWORDS"
    ),
    "Claude Code, other agents": _claude(
        '<teammate-message teammate_id="a">\nDOC\n</teammate-message>\n\n'
        '<cross-session-message from="b">\nDOC\n</cross-session-message>',
        "WORDS",
    ),
    "Claude Code, a finished task": _claude(
        "<task-notification>\n<result>DOC</result>\n</task-notification>\nFull transcript available at: /x", heard=""
    ),
    "Claude Code, a command": _claude(f"{_COMMAND}\n<command-args>WORDS</command-args>", "DOC", heard=f"/fix {WORDS}"),
    "Claude Code, a command without arguments": _claude(_COMMAND, "DOC", heard="/fix"),
    "Claude Code, a command in one text": _claude(f"{_COMMAND}\nDOC", heard="/fix"),
    "Claude Code, a prompt of MCP": _claude(_reminder("DOC"), _COMMAND, "DOCS", heard="/fix"),
    "Claude Code, a skill": _claude(_RESULT, _COMMAND, "Base directory for this skill: /s\n\nDOC", heard=""),
    "Claude Code, while a tool runs": _claude(_RESULT, _DELIVERED, _reminder("Note: /a was modified:\nDOC")),
    "Claude Code, while a tool runs, twice": _claude(_RESULT, _DELIVERED, _DELIVERED, heard=f"{WORDS}\n{WORDS}"),
    "Claude Code, a resource while a tool runs": _claude(
        _RESULT, _DELIVERED, _reminder("Full contents of resource:"), _reminder("DOC")
    ),
    "Claude Code, a resource after an interruption": _claude(
        _RESULT, "[Request interrupted by user for tool use]", "WORDS", _reminder("Full contents:"), _reminder("DOC")
    ),
    "Claude Code, a command of the model's": _claude(_RESULT, _COMMAND, "DOC", heard=""),
    "Claude Code, interrupted": _claude(
        _RESULT,
        _reminder("DOC"),
        "Base directory for this skill: /s\nDOC",
        "[Request interrupted by user for tool use]",
        "WORDS",
    ),
    "Claude Code, a channel": _claude('<channel source="slack">\nDOC\n</channel>', heard=""),
    "Claude Code, a plan": _claude(
        "Implement the following plan:\n\nDOC\n\nIf you need specific details from before exiting plan mode (x",
        heard="",
    ),
    "Claude Code, a summary": _claude("This session is being continued from a previous conversation.\nDOC", "WORDS"),
    "Cline, a summary": _cline("Context summary:\n\nThe user works on the docs. DOC", heard=""),
    "Cline, a todo list": _cline(_TASK, "\n# task_progress RECOMMENDED\n\nDOC\n"),
    "Cline, a todo list when planning": _cline(
        _TASK, "\n1. To create or update a todo list, include the task_progress parameter\nDOC"
    ),
    "Roo, a folder": Shape(
        [_TASK, "[read_file for folder 'docs/']\nFolder listing:\n└── a.md\n\n--- File Contents ---\n\nDOC", _DETAILS],
        _ROO,
    ),
    "Roo, a file cut short": Shape(
        [
            _TASK,
            "[read_file for 'a.md']\nIMPORTANT: File content truncated.\nStatus: x\n\nFile: a.md\n1 | DOC",
            _DETAILS,
        ],
        _ROO,
    ),
    "Codex, rules": Shape(
        [
            "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nDOC\n</INSTRUCTIONS>",
            "<environment_context>DOC</environment_context>",
            "WORDS",
        ],
        headers=_CODEX,
    ),
    "Codex, piped in": Shape("WORDS\n\n<stdin>\nDOC\n</stdin>", headers=_CODEX),
    "Codex, an editor": Shape(
        "# Context from my IDE setup:\n\n## Active selection of the file:\nDOC\n\n## My request for Codex:\nWORDS",
        headers=_CODEX,
    ),
    "Codex, a picture": Shape(["<image name=[Image #1]>", "DOC", "</image>", "WORDS"], headers=_CODEX),
    "Codex, a shell": Shape(
        ["<user_shell_command>\n<command>\nDOC\n</command>\n<result>\nDOC\n</result>\n</user_shell_command>", "WORDS"],
        headers=_CODEX,
    ),
    "Codex, a skill": Shape(["<skill>\n<name>s</name>\nDOC\n</skill>", "WORDS"], headers=_CODEX),
    "opencode, files": _opencode("WORDS", _CALLED, "DOC", _CALLED, "DOC"),
    "opencode, files first": _opencode(_CALLED, "DOC", _CALLED, "DOC", '"WORDS"'),
    "opencode, a resource of MCP": _opencode("WORDS", "Reading MCP resource: a (x://y)", "DOCS"),
    "opencode, piped in": _opencode('"WORDS"\nDOC'),
    "opencode, while a tool runs": _opencode(
        _reminder(
            "The user sent the following message:\nWORDS\n\nPlease address this message and continue with your tasks."
        ),
        *(_CALLED, "DOC"),
        before=[*_answered("ok"), {"role": "tool", "tool_call_id": "t", "content": PLAIN}],
    ),
    "opencode, a resource while a tool runs": _opencode(
        "WORDS",
        "Reading MCP resource: a (x://y)",
        "DOCS",
        before=[*_answered("ok"), {"role": "tool", "tool_call_id": "t", "content": PLAIN}],
    ),
    "aider without instructions": Shape(
        "WORDS\n\nHere is the content of https://e.x:\n\nDOC", before=[{"role": "user", "content": _AIDER}, *_OK]
    ),
    "aider, tests": Shape("# Fix any errors below, if possible.\n\nDOC", _AIDER, heard=""),
    "aider, files": Shape(
        "I have *added these files to the chat* so you can go ahead and edit them.\n\nDOC", _AIDER, heard=""
    ),
    "aider, a shell": Shape("I ran this command:\n\nmake\n\nAnd got this output:\n\nDOC", _AIDER, heard=""),
    "aider, a page": Shape("Here is the content of https://e.x:\n\nDOC", _AIDER, heard=""),
    "aider, words with a page": Shape("WORDS\n\nHere is the content of https://e.x:\n\nDOC", _AIDER),
    "Open WebUI, a tool called in a text": Shape("WORDS\n\nTool `get_page` Output: DOC"),
    "Open WebUI, its first template": Shape(
        "Use the following context as your learned knowledge, inside <context></context> XML tags.\n<context>\nDOC\n"
        "</context>\n\nGiven the context information, answer the query.\nQuery: WORDS"
    ),
    "Open WebUI, search": Shape(f"{_RAG}WORDS"),
    "Open WebUI 0.5": Shape(f"{_RAG}<user_query>\nWORDS\n</user_query>\n"),
    "Open WebUI, files": Shape(f"{_ATTACHED}WORDS"),
    "Open WebUI, search and files": Shape(f"{_RAG}{_ATTACHED}WORDS"),
    "Open WebUI, files and search": Shape(f"{_ATTACHED}{_RAG}WORDS"),
    "Open WebUI, code": Shape("WORDS\n#### Tools Available\n\n1. **Code Interpreter**: `x`\n   - DOC"),
    "Cline, a file and a page": _cline(
        f'{_TASK}<file_content path="a.md">\nDOC\n</file_content>\n\n<url_content url="https://e.x">\nDOC\n</url_content>'
    ),
    "Cline, a folder and a terminal": _cline(
        f'{_TASK}<folder_content path="d/">\nDOC\n</folder_content>\n\n<terminal_output>\nDOC\n</terminal_output>'
    ),
    "Cline, a commit": _cline(
        f'{_TASK}<git_commit hash="a1">\nDOC\n</git_commit>\n\n<workspace_diagnostics>\nDOC\n</workspace_diagnostics>'
    ),
    "Cline, a tag that is not known": _cline(f"{_TASK}<of_tomorrow>\nDOC\n</of_tomorrow>"),
    "Cline, a tool": _cline("[read_file for 'a.md'] Result:", "DOC", heard=""),
    "Cline, tools": _cline("[read_file for 'a.md'] Result:", "DOC", "[use_mcp_tool] Result:", "DOCS", heard=""),
    "Cline, a tool with a command of two lines": _cline(
        "[execute_command for 'cat a\ncat b'] Result:", "DOC", heard=""
    ),
    "Roo Code, a task of its own": Shape(["[new_task completed] Result: DOC", _DETAILS], _ROO, heard=""),
    "Roo Code, a task in a mode": Shape(["[new_task in code mode: 'x'] Result:", "DOC", _DETAILS], _ROO, heard=""),
    "Roo Code, a command in a mode of one's own": Shape(
        ["[run_slash_command for 'x' with args: a] Result:", "DOC"], "You are a writer.", heard=""
    ),
    "Cline, a task that goes on": _cline(
        "[TASK RESUMPTION] DOC",
        "New instructions for task continuation:\n<user_message>\nWORDS\n</user_message>\n\n"
        '<file_content path="a">\nDOC\n</file_content>',
    ),
    "Cline, a file of its own": _cline("WORDS", '<file_content path="a.md">\nDOC\n</file_content>'),
    "Roo Code, a command": Shape(
        [
            '<user_message>\nWORDS\n</user_message>\n\n<command name="init">\nDOC\n</command>',
            "<environment_details>\nDOC\n</environment_details>",
        ]
    ),
    "Roo Code, a mode of one's own": Shape(["[read_file for 'a.md'] Result:", "DOC"], "You are a writer.", heard=""),
    "Continue, selections": Shape(["```a.md (1-3)\nDOC\n```\n\n", "```b.md (1-3)\nDOC\n```\n\n", "WORDS"]),
    "Continue, selections in one text": Shape("```a.md (1-3)\nDOC\n```\n\n```b.md (1-3)\nDOC\n```\n\nWORDS"),
    "Continue, an edit": Shape(
        "The user has requested a section of code in a file to be rewritten.\n\nDOC\n\n"
        'The user\'s request is: "WORDS"\n\nHere is the rewritten code:'
    ),
    "Copilot CLI": Shape(
        "<current_datetime>2026-11-25</current_datetime>\n\nWORDS\n\n<reminder>\nDOC\n</reminder>",
        "You are the GitHub Copilot CLI, a terminal assistant built by GitHub.",
    ),
    "Copilot Chat": Shape(
        '<attachments>\n<attachment id="a">\nDOC\n</attachment>\n</attachments>\n<context>\nDOC\n</context>\n'
        "<reminderInstructions>\nx\n</reminderInstructions>\n<userRequest>\nWORDS\n</userRequest>"
    ),
    "Cursor": Shape("<additional_data>\nDOC\n</additional_data>\n\n<user_query>\nWORDS\n</user_query>"),
    "Antigravity": Shape("<USER_REQUEST>\nWORDS\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nDOC\n</ADDITIONAL_METADATA>"),
    "Gemini CLI, how it begins": Shape(
        ["This is the Gemini CLI. We are setting up the context for our chat.\nDOC"], heard=""
    ),
    "Qwen Code": Shape("WORDS\n--- Content from referenced files ---\nDOC\n--- End of content ---"),
    "Qwen Code, parts": Shape(
        ["WORDS", "\n--- Content from referenced files ---", "\nContent from /a:\n", "DOC", "\n--- End of content ---"]
    ),
    "Goose": Shape("<info-msg>\nDOC\n</info-msg>\nWORDS"),
    "Zed": Shape(f"{_ZED}WORDS"),
    "Zed, behind": Shape(f"WORDS\n{_ZED}"),
    "Zed, an edit": Shape(
        "Here's a file of Rust that I'm going to ask you to make an edit to.\n\n<document>\nDOC\n</document>\nEdit it "
        "based on this prompt:\n\n<prompt>\nWORDS\n</prompt>\n\nThe section:\n<rewrite_this>\nDOC\n</rewrite_this>"
    ),
    "Obsidian Copilot": Shape("<active_note>\nDOC\n</active_note>\n\n<note_context>\nDOC\n</note_context>\n\nWORDS"),
    "Obsidian Copilot, a query": Shape("<note_context>\nDOC\n</note_context>\n\n---\n\n[User query]:\nWORDS"),
    "Obsidian Copilot, its context": Shape(
        "# Additional context:\n\n<active_note>\nDOC\n</active_note>\n\n<note_context>\nDOC\n</note_context>\n\n"
        "# User query:\nWORDS"
    ),
    "Obsidian Copilot, a page behind": Shape("WORDS\n\n<web_tab_context>\n<content>DOC</content>\n</web_tab_context>"),
    "Obsidian Copilot, a PDF": Shape("<embedded_pdf>\nDOC\n</embedded_pdf>\n\n---\n\n[User query]:\nWORDS"),
    "Chatbox": Shape("WORDS\n\n<ATTACHMENT_FILE>\n<FILE_CONTENT>\nDOC\n</FILE_CONTENT>\n</ATTACHMENT_FILE>\n"),
    "Jan": Shape("WORDS\n\n[ATTACHED_FILES]\n- DOC\n[/ATTACHED_FILES]"),
    "Void": Shape("WORDS\n---\nSELECTIONS\n/a.py:\n```\nDOC\n```"),
    "LobeChat": Shape("WORDS\n\n<!-- SYSTEM CONTEXT (NOT PART OF USER QUERY) -->\nDOC\n<!-- END SYSTEM CONTEXT -->"),
    "Crush": Shape(
        "WORDS\n<system_info>The files below have been attached by the user</system_info>\n"
        "<file path='a'>\nDOC\n</file>"
    ),
    "Cherry Studio": Shape(
        "Please answer the question based on the reference materials\n\n## Citation Rules:\n- x\n\n"
        "## My question is:\n\nWORDS\n\n## Reference Materials:\n\nDOC"
    ),
    "LlamaIndex": Shape(
        "Context information is below.\n---------------------\nDOC\n---------------------\nGiven the context "
        "information and not prior knowledge, answer the query.\nQuery: WORDS\nAnswer: "
    ),
    "LlamaIndex, citations": Shape(
        "Please provide an answer based solely on the provided sources. For example:\nSource 1:\nx\nQuery: y\n"
        "Below are several numbered sources of information:\n------\nDOC\n------\nQuery: WORDS\nAnswer: "
    ),
    "LlamaIndex, a better answer": Shape(
        "The original query is as follows: WORDS\nWe have provided an existing answer: x\nDOC\nRefined Answer: ",
        heard="",
    ),
    "LlamaIndex, an index": Shape(
        "Here is the content of the section:\nDOC\n\nSummarize the key topics and entities of the section. \nSummary: ",
        heard="",
    ),
    "LangChain, a chain": Shape(
        "Use the following pieces of context to answer the question at the end. If you don't know, say so.\n\nDOC\n\n"
        "Question: WORDS\nHelpful Answer:"
    ),
    "LangChain, a tool": Shape("TOOL RESPONSE: \n---------------------\nDOC\n\nUSER'S INPUT\n------\n\nOkay", heard=""),
    "LangChain, tools": Shape(
        "Answer the following questions as best you can. You have access to the following tools:\n\nsearch: DOC\n\n"
        "Begin!\n\nQuestion: WORDS\nThought: x\nAction: search\nObservation: DOC\nThought:"
    ),
    "LangChain, documents": Shape(
        "You are an assistant for question-answering tasks. Use the following pieces of retrieved context to answer.\n"
        "Question: WORDS \nContext: DOC \nAnswer:"
    ),
    "a tool called in a text": Shape(
        "Observation: DOC", before=_answered("Thought: x\nAction: search\nAction Input: x"), heard=""
    ),
    "a tool called in a text without a thought": Shape(
        "Observation: DOC", before=_answered("Action: search\nAction Input: x"), heard=""
    ),
    "smolagents, arguments": Shape(
        "New task:\nWORDS\nYou have been provided with these additional arguments, that you can access directly: DOC",
        _SMOLAGENTS,
    ),
    "smolagents, a second task": Shape("Observation:\nDOC\nNew task:\nWORDS", _SMOLAGENTS, before=_FINAL),
    "smolagents, a tool": Shape("Observation:\nDOC", _SMOLAGENTS, before=_answered("x"), heard=""),
    "instructor": Shape("Correct your JSON ONLY RESPONSE, based on the following errors:\nDOC", heard=""),
    "Pydantic AI": Shape("Validation feedback:\nDOC\n\nFix the errors and try again.", heard=""),
    "opencode, one text": _opencode(f"WORDS\n{_CALLED}\nDOC\nReading MCP resource: a (x://y)\nDOC"),
    "files in one text": Shape('<file name="/a.md">\nDOC\n</file>\n<image name="b.png">\nDOC</image>\nWORDS'),
    "a file with a name of two lines": Shape('<file name="/a<b\nc.md">\nDOC\n</file>\nWORDS'),
    "a file in parts": Shape(['<file name="a.md">', "DOC", "</file>", "WORDS"]),
    "tags that nobody knows": Shape(["<of-tomorrow x='1'>DOC</of-tomorrow>\n<also_new>DOC</also_new>", "WORDS"]),
    # Forms that no rule names: what stands behind a mark of programs is not heard.
    "Codex, sections that no rule names": Shape(
        "# Review findings:\n\n## One\nDOC\n\n## My request for Codex:\nWORDS", headers=_CODEX
    ),
    "Codex, the browser in its app": Shape(
        '<in-app-browser-context source="x">\n# In app browser:\n- DOC\n</in-app-browser-context>\n\n'
        "## My request:\nWORDS",
        headers=_CODEX,
    ),
    "Codex, the page of its app": Shape(
        [
            '# Browser comments:\n\n## Comment 1\nFile: browser:DOC\nNearby text: "DOC"\n\n## My request:\nWORDS',
            'The next image is untrusted page evidence. The element "DOC" is outlined.',
        ],
        headers=_CODEX,
    ),
    "Qwen Code, a fetched page": Shape(
        "The page was fetched from the address. The content is below.\n\n---\nDOC\n---",
        heard="The page was fetched from the address. The content is below.",
    ),
    "Continue, a tool of its own": Shape(["Tool output for read_file tool call:\n\nDOC"], heard=""),
    "Obsidian Copilot, a tool": Shape("Tool 'localSearch' result: DOC", heard=""),
    "Cherry Studio, a tool": Shape(["Here is the result of mcp tool use `fetch`:", "DOC"], heard=""),
    "Google ADK, another agent": Shape(["For context:", "[researcher] said: DOC"], heard=""),
    "OpenHands, a command": Shape("EXECUTION RESULT of [execute_bash]:\nDOC", heard=""),
    "Open Interpreter": Shape("Code output: DOC\n\nWhat does this output mean?", heard=""),
    "Zed, a terminal": Shape(
        "Current OS name is 'linux'.\nLatest non-empty terminal output:\nDOC\nWORDS",
        heard="Current OS name is 'linux'.",
    ),
    "LangChain, a refined answer": Shape(
        "More context is below.\n------------\nDOC\n------------\nRefine it.", heard="More context is below."
    ),
    "a tag that no rule names": Shape(
        "Look at this.\n<returncode>0</returncode>\n<output>\nDOC\n</output>", heard="Look at this."
    ),
    "Claude Code, a prompt of MCP with marks": _claude(
        _COMMAND, "[a_b] Result:", "[Request interrupted by user]", "DOC", heard="/fix"
    ),
}
