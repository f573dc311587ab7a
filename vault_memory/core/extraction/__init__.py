"""What a turn says about its person.

`extract` hears preferences in a message; `redact` takes secrets out of a text and `without_private` private facts.
"""

from __future__ import annotations

from vault_memory.core.extraction.lexicon import Lexicon, load_lexicon
from vault_memory.core.extraction.rules import extract
from vault_memory.core.privacy.private import is_private, private_spans, without_private
from vault_memory.core.privacy.secrets import Redacted, redact
from vault_memory.core.profile.policy import Signal

__all__ = [
    "Lexicon",
    "Redacted",
    "Signal",
    "extract",
    "is_private",
    "load_lexicon",
    "private_spans",
    "redact",
    "without_private",
]
