"""What a model knows of an index, measured with the index's own text: does half a sentence find the chunk it is from?

All of this is a function of the text and its vectors: an index that is rebuilt is judged like one that grew. A model
that does not know the language, or knows nothing, finds the chunk no better than chance.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence

from vault_memory.core.notes import Segment

MAX_PROBES, MIN_PROBES = 32, 8
"""How many chunks of a script are asked for, and how many it takes to measure anything."""
MIN_PARTS = 8
"""A sentence of fewer words, or pairs of Han characters, says too little."""
MAX_CHARS = 200
_PART = re.compile(r"[\u3400-\u9fff]{1,2}|[^\s\u3400-\u9fff]+")


def probe(text: str, segments: Sequence[Segment]) -> str:
    """Every second word (Chinese: every second pair of characters) of a chunk's longest segment; "" when that is too
    short. Half of the words, because a question seldom repeats the sentence that answers it."""
    longest = max((text[segment.start : segment.end].strip() for segment in segments), key=len, default="")
    parts = _PART.findall(longest[:MAX_CHARS])
    return " ".join(parts[::2]) if len(parts) >= MIN_PARTS else ""


def knowledge(cosines: Sequence[Sequence[float]]) -> float | None:
    """By how many standard deviations a probe's own chunk lies above the other chunks, on average; None for fewer than
    `MIN_PROBES` probes. Row i holds the cosines of probe i with all chunks, its own at i. 0 is chance."""
    if len(cosines) < MIN_PROBES:
        return None
    heights = []
    for at, row in enumerate(cosines):
        others = [*row[:at], *row[at + 1 :]]
        mean = statistics.fmean(others)
        deviation = math.sqrt(statistics.fmean((other - mean) ** 2 for other in others))
        heights.append((row[at] - mean) / deviation if deviation else 0.0)
    return round(statistics.fmean(heights), 2)
