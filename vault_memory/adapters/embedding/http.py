"""Vectors from an embedding model over HTTP: OpenAI-compatible (`/v1/embeddings`) or Ollama's form (`/api/embed`).

Several endpoints may serve the same model, in order of preference: a machine with a GPU first, a cloud service second.
Each has a circuit breaker: a search never waits for one that is known to be down. Every text that is sent goes through
`outgoing` first: no secret and no private sentence leaves the machine.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from vault_memory.adapters.embedding.base import HTTP, Kind, Vector, unit_vector
from vault_memory.core.privacy import PRIVATE, redact, without_private
from vault_memory.errors import EndpointError

BATCH_TEXTS = 64
DOCUMENT_ROUNDS = 3
"""How often all endpoints are tried for documents and probes; a query tries each once, since somebody is waiting."""
FIRST_PAUSE_S = 0.5
"""Before the second round; doubled before each further one."""
MAX_FAILURES, REST_S = 2, 30.0
"""After this many failures in a row an endpoint is not asked for this long."""
MAX_DIMENSIONS = 8_192
"""Twice as many as most large models have."""
NUMBER_BYTES, OTHER_BYTES = 25, 64 << 10
"""Of a response: a number (`-1.2345678901234567e-05, `), and all that is none."""
OTHER_VALUES = 100
"""Of a row: what is in it beside its numbers."""
_BLANK = " \t\n.,;!?。，；！？"


@dataclass(frozen=True)
class Endpoint:
    """`url` is the whole address of the POST request; for one that ends in `/api/embed` it has Ollama's form.

    `key_env` names the environment variable that holds the key ("": no key is needed).
    """

    url: str
    key_env: str = ""

    @property
    def host(self) -> str:
        """Host and port, for messages; never the password."""
        return urlsplit(self.url).netloc.rpartition("@")[2] or self.url


class HttpEmbedder:
    """`Embedder` for one model. The prefixes are what models of the kinds e5, bge or nomic want before a text.

    `timeout_s` is what each endpoint may take for a batch of documents, `query_timeout_s` what all of them may take for
    a query; retries, the look-up of names, and whatever comes before a response included.
    """

    def __init__(
        self,
        model: str,
        endpoints: Sequence[Endpoint],
        *,
        query_prefix: str = "",
        document_prefix: str = "",
        timeout_s: float = 60.0,
        query_timeout_s: float = 0.3,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        for endpoint in endpoints:
            if urlsplit(endpoint.url).scheme not in ("http", "https"):
                raise EndpointError(
                    f"{endpoint.url!r} is not an embedding endpoint: it must begin with http:// or https://"
                )
        if not model or not endpoints:
            raise EndpointError("an embedding model needs its name and at least one endpoint")
        self.model, self.endpoints = model, list(endpoints)
        self._prefixes: dict[Kind, str] = {"query": query_prefix, "document": document_prefix}
        self._timeout_s, self._query_timeout_s = timeout_s, query_timeout_s
        self._environ, self._clock, self._sleep = environ, clock, sleep
        self._dimension = 0
        self._failures = dict.fromkeys(self.endpoints, 0)
        self._rests_until = dict.fromkeys(self.endpoints, 0.0)
        self._why = dict.fromkeys(self.endpoints, "")

    @property
    def dimension(self) -> int:
        """Asked once, then kept."""
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    @property
    def space(self) -> str:
        """The model and its prefixes; a change of either makes another space. Known without asking the endpoint."""
        prefixes = "".join(self._prefixes.values())
        mark = "-" + hashlib.sha256(repr(self._prefixes).encode()).hexdigest()[:8] if prefixes else ""
        return f"{HTTP}{self.model}{mark}"

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        prefix = self._prefixes["document" if kind == "document" else "query"]
        found: list[Vector] = []
        for at in range(0, len(texts), BATCH_TEXTS):
            batch = [outgoing(text) for text in texts[at : at + BATCH_TEXTS]]
            if kind == "query" and any(text.strip(_BLANK) == PRIVATE for text in batch):
                raise EndpointError("the question tells something private, so it is not sent to an endpoint")
            found.extend(self._ask_endpoints([prefix + text for text in batch], kind))
        return found

    def _ask_endpoints(self, texts: Sequence[str], kind: Kind) -> list[list[float]]:
        deadline = self._clock() + self._query_timeout_s
        left = dict.fromkeys(self.endpoints, self._timeout_s)
        problems: dict[str, str] = {}
        for round_ in range(1 if kind == "query" else DOCUMENT_ROUNDS):
            if round_:
                self._sleep(FIRST_PAUSE_S * 2 ** (round_ - 1))
            for endpoint in self.endpoints:
                began = self._clock()
                left_s = deadline - began if kind == "query" else left[endpoint]
                if left_s <= 0:
                    problems.setdefault(endpoint.host, "was not asked, the time was up")
                elif self._rests_until[endpoint] > began:
                    problems.setdefault(endpoint.host, f"{self._why[endpoint]}, and is left alone for a while")
                else:
                    try:
                        vectors = self._ask(endpoint, texts, left_s)
                    except EndpointError as error:
                        problems[endpoint.host] = self._why[endpoint] = str(error)
                        self._failed(endpoint)
                        left[endpoint] -= self._clock() - began
                    else:
                        self._failures[endpoint] = 0
                        return vectors
        reasons = "; ".join(f"{host} {problem}" for host, problem in problems.items())
        raise EndpointError(f"no embedding endpoint answered: {reasons}")

    def _failed(self, endpoint: Endpoint) -> None:
        self._failures[endpoint] += 1
        if self._failures[endpoint] >= MAX_FAILURES:
            self._rests_until[endpoint] = self._clock() + REST_S

    def _ask(self, endpoint: Endpoint, texts: Sequence[str], timeout_s: float) -> list[list[float]]:
        """One request. The message of an error completes a sentence that begins with the endpoint's name."""
        from vault_memory.adapters.models import Unanswered, ask

        try:
            answer = ask(
                endpoint.url,
                {"model": self.model, "input": list(texts)},
                self._headers(endpoint),
                timeout_s=timeout_s,
                max_bytes=len(texts) * MAX_DIMENSIONS * NUMBER_BYTES + OTHER_BYTES,
                max_values=len(texts) * (MAX_DIMENSIONS + OTHER_VALUES),
            )
        except Unanswered as unanswered:
            raise EndpointError(str(unanswered)) from None
        if answer.status != 200:
            raise EndpointError(f"answered {answer.status}")
        return self._vectors(answer.value, len(texts))

    def _headers(self, endpoint: Endpoint) -> dict[str, str]:
        if not endpoint.key_env:
            return {}
        key = self._environ.get(endpoint.key_env, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise EndpointError(f"needs a key: the environment variable {endpoint.key_env} holds none")
        return {"Authorization": f"Bearer {key}"}

    def _vectors(self, value: Any, count: int) -> list[list[float]]:
        rows = _rows(value)
        if len(rows) != count:
            raise EndpointError(f"gave {len(rows)} vectors for {count} texts")
        vectors = [unit_vector(row) for row in rows]
        wanted = self._dimension or len(vectors[0])
        if not 1 < wanted <= MAX_DIMENSIONS:
            raise EndpointError(f"gave {wanted:,} dimensions: a model has 2 to {MAX_DIMENSIONS:,}")
        for vector in vectors:
            if len(vector) != wanted:
                raise EndpointError(f"gave {len(vector)} dimensions instead of {wanted}: does it serve {self.model}?")
        self._dimension = wanted
        return vectors


def outgoing(text: str) -> str:
    """The text without secrets and without sentences that state a private fact."""
    return without_private(redact(text).text)[0]


def _rows(value: Any) -> list[Any]:
    """The rows of a response in OpenAI's or Ollama's form, in the order of the texts."""
    try:
        if "embeddings" in value:
            return list(value["embeddings"])
        rows = [(row.get("index"), row["embedding"]) for row in value["data"]]
    except (KeyError, TypeError, AttributeError):
        raise EndpointError("answered without embeddings") from None
    if all(index is None for index, _ in rows):
        return [row for _, row in rows]
    found = {index: row for index, row in rows if type(index) is int}
    if sorted(found) != [*range(len(rows))]:
        raise EndpointError("gave vectors whose numbers (`index`) are not those of the texts")
    return [found[index] for index in range(len(rows))]
