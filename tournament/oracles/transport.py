"""The connection to a server. This is the only module that uses `openai`, `aiohttp` and `httpx2`.

The SDK handles the protocol (key, headers, proxies, connections) and makes a session of aiohttp. Requests are sent
through that session directly, because sending takes only a tenth of the time that the SDK spends on a request. The
SDK's transport also reports every failed connection as a time-out, and may write to a connection that was just
closed. This module tells these cases apart.
"""

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx2
import openai

from tournament.oracles.protocol import one_line

# The SDK has some 80,000 permanent objects. Searching them for garbage would delay running calls.
gc.freeze()

CONNECT_SECONDS = 10.0
"""Seconds within which a connection must be made."""


class NoAnswer(Exception):
    """A request got no answer. The message gives the reason in a few words."""


class Unreachable(NoAnswer):
    """No connection could be made, so nothing was sent."""


class Closed(NoAnswer):
    """The connection was closed before anything was written to it."""


class Late(NoAnswer):
    """No answer arrived in time."""


class Dropped(NoAnswer):
    """The connection broke, and the server may have read the request."""


@dataclass(frozen=True)
class Response:
    """An answer of a server. Names of headers can be looked up in capital or small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Connections to one server, at most `most` at once, which stay open between requests.

    A request and its answer may take `seconds`. The object must be made while an event loop is running.
    """

    def __init__(self, secret: str, base_url: str, most: int, seconds: float) -> None:
        self._seconds = seconds
        self._url = f"{base_url}/chat/completions"
        http = openai.DefaultAioHttpClient(
            limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most)
        )
        self._sdk = openai.AsyncOpenAI(
            api_key=secret, base_url=base_url, max_retries=0, http_client=http
        )
        # This is the transport that the SDK would choose. It uses a proxy if the environment names one.
        carrier: Any = http._transport_for_url(httpx2.URL(self._url))
        self._session: aiohttp.ClientSession = carrier.get_client()
        carrier.client = self._session
        self._proxy = carrier.proxy and _with_credentials(carrier.proxy)
        headers = {**self._sdk.default_headers, **self._sdk.auth_headers}
        names = [name for name in headers if not name.startswith("X-Stainless")]
        self._headers: dict[str, Any] = {
            n: headers[n] for n in names if isinstance(headers[n], str)
        }
        self._limit = aiohttp.ClientTimeout(seconds, sock_connect=CONNECT_SECONDS)

    async def post(self, body: bytes) -> Response:
        """Send one request and return its answer. Raises a subclass of `NoAnswer`."""
        try:
            async with self._session.post(
                self._url, data=body, headers=self._headers, timeout=self._limit, proxy=self._proxy
            ) as answer:
                return Response(answer.status, answer.headers, await answer.read())
        except (aiohttp.ClientError, OSError) as error:
            raise self._explained(error) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._sdk.close()

    def _explained(self, error: Exception) -> NoAnswer:
        """Return the kind of `NoAnswer` that an error of aiohttp or the system amounts to."""
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return Unreachable(_reason(error))
        if isinstance(error, TimeoutError):
            return Late(f"no answer within {self._seconds:g} seconds")
        closed = isinstance(error, aiohttp.ClientConnectionResetError)
        return (Closed if closed else Dropped)(one_line(str(error)) or type(error).__name__)


def _with_credentials(proxy: httpx2.Proxy) -> str:
    user, password = proxy.auth or ("", "")
    return str(proxy.url.copy_with(username=user, password=password))


def _reason(error: aiohttp.ClientError) -> str:
    """Return in a few words why a connection could not be made."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no answer within {CONNECT_SECONDS:g} seconds"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "no such host"
    under = getattr(error, "os_error", error)
    if isinstance(under, ConnectionRefusedError):
        return "connection refused"
    return one_line(str(under)) or type(under).__name__
