"""Vectors from a model on this machine, through fastembed (the extra `local`): ONNX on the processor, no torch."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memory.adapters.embedding.base import LOCAL, Kind, Vector, unit_vector
from vault_memory.errors import EndpointError

if TYPE_CHECKING:
    from fastembed import TextEmbedding

MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""Small (220 MB, 384 dimensions); it knows 50 languages, Chinese among them."""
BATCH_TEXTS = 32


class LocalEmbedder:
    """`Embedder` for one of fastembed's models ("": `MODEL`), kept under `~/.cache/vault-memory/models`.

    It is downloaded when documents are embedded, never during a search. With `folder`, which holds its files, nothing
    is downloaded.
    """

    def __init__(
        self, model: str = "", *, query_prefix: str = "", document_prefix: str = "", folder: Path | None = None
    ) -> None:
        self.model = model or MODEL
        self._prefixes: dict[Kind, str] = {"query": query_prefix, "document": document_prefix}
        self._folder = folder
        self._loaded: TextEmbedding | None = None
        self._loading = threading.Lock()

    @property
    def dimension(self) -> int:
        return int(self._load(may_download=True).embedding_size)

    @property
    def space(self) -> str:
        """The model and its prefixes; another server's build of the same model is another space."""
        prefixes = "".join(self._prefixes.values())
        mark = "-" + hashlib.sha256(repr(self._prefixes).encode()).hexdigest()[:8] if prefixes else ""
        return f"{LOCAL}{self.model}{mark}"

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        if not texts:
            return []
        model = self._load(may_download=kind == "document")
        prefix = self._prefixes["document" if kind == "document" else "query"]
        vectors = model.embed([prefix + text for text in texts], batch_size=BATCH_TEXTS)
        try:
            return [unit_vector(vector.tolist()) for vector in vectors]
        except EndpointError as error:
            raise EndpointError(f"the model {self.model} {error}") from None

    def _load(self, *, may_download: bool) -> TextEmbedding:
        with self._loading:
            if self._loaded is None:
                # Read once, when it is imported. Else onnxruntime keeps an id of this machine and sends events to its
                # maker, from a thread of its own that reads the environment while Python may change it.
                os.environ["ORT_DISABLE_TELEMETRY"] = "1"
                try:
                    from fastembed import TextEmbedding
                    from loguru import logger
                except ImportError:
                    raise EndpointError(
                        "a local embedding model needs fastembed: pip install 'vault-memory[local]'"
                    ) from None
                logger.disable("fastembed")  # our error says what went wrong
                try:
                    self._loaded = TextEmbedding(
                        self.model,
                        cache_dir=str(_cache()),
                        local_files_only=not may_download,
                        specific_model_path=str(self._folder) if self._folder else None,
                    )
                except Exception as error:  # fastembed and its downloader document no error types
                    hint = "" if may_download else "; the daemon or `vault-memory heartbeat vectors` downloads it"
                    raise EndpointError(f"the model {self.model} cannot be loaded ({error}){hint}") from error
        return self._loaded


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vault-memory" / "models"
