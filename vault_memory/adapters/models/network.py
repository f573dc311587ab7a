"""The way to an endpoint, for httpcore: TLS, and the proxy that the environment names."""

from __future__ import annotations

import functools
import ssl
from typing import TypedDict
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

MAX_HEAD_BYTES = 32 << 10
"""Of a response, with the 1xx responses before it: each of those takes some 50 us, and few endpoints send any."""


class Way(TypedDict):
    """What a connection pool of httpcore is told of the way to an endpoint."""

    ssl_context: ssl.SSLContext | None
    proxy: httpcore.Proxy | None


def way_to(address: httpx.URL) -> Way:
    """How an endpoint is reached. Raises `httpx.UnsupportedProtocol` for a SOCKS proxy, `ValueError` for what is no
    proxy."""
    proxies = {} if proxy_bypass(address.host) else getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    return {
        "ssl_context": _tls() if address.scheme == "https" else None,
        "proxy": _proxy_at(proxy if "://" in proxy else f"http://{proxy}") if proxy else None,
    }


def httpcore_url(address: httpx.URL) -> httpcore.URL:
    """The same address."""
    return httpcore.URL(scheme=address.raw_scheme, host=address.raw_host, port=address.port, target=address.raw_path)


@functools.cache
def _tls() -> ssl.SSLContext:
    """To read the certificates of all authorities takes a tenth of a second."""
    return httpx.create_ssl_context()


def _proxy_at(address: str) -> httpcore.Proxy:
    proxy = httpx.Proxy(address)
    if proxy.url.scheme.startswith("socks"):
        raise httpx.UnsupportedProtocol("a SOCKS proxy")  # it takes a package that is not here
    return httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth, ssl_context=proxy.ssl_context)
