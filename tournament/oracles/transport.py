"""Carries requests to a server: the only place that knows `openai`, `aiohttp` and `httpx2`.

The SDK knows the protocol (key, headers, proxies, connections), and makes a session of aiohttp's. Requests go straight
to that session: of the time that the SDK takes for a request, sending it is a tenth. And its transport reports every
connection that fails as a time-out, and may write into one that has just been closed; here both are what they are.
"""

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx2
import openai

from tournament.oracles.protocol import one_line

# The SDK is some 80,000 objects that stay for good: collecting garbage among them would hold up calls under way.
gc.freeze()

CONNECT_SECONDS = 10.0


class NoAnswer(Exception):
    """There is no answer, in a few words."""


class Unreachable(NoAnswer):
    """No connection could be made, so nothing was sent."""


class Closed(NoAnswer):
    """The connection was closed before anything was written to it."""


class Late(NoAnswer):
    """The time for an answer is over."""


class Dropped(NoAnswer):
    """The connection broke off, and what was sent may have been read."""


@dataclass(frozen=True)
class Response:
    """What a server answered; headers are found in whatever letters their names are."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Connections to one server, `most` at the same time, kept open in between. It is made where a loop runs.

    A request and its answer may take `seconds`.
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
        # The one that the SDK would choose: through a proxy, where the environment names one.
        carrier: Any = http._transport_for_url(httpx2.URL(self._url))
        self._session: aiohttp.ClientSession = carrier.get_client()
        carrier.client = self._session
        self._proxy = carrier.proxy and _with_credentials(carrier.proxy)
        said = {**self._sdk.default_headers, **self._sdk.auth_headers}
        self._headers = {
            name: value
            for name, value in said.items()
            if isinstance(value, str) and not name.startswith("X-Stainless")
        }
        self._limit = aiohttp.ClientTimeout(seconds, sock_connect=CONNECT_SECONDS)

    async def post(self, body: bytes) -> Response:
        """The answer to one request. Raises `NoAnswer`, as one of its kinds."""
        try:
            async with self._session.post(
                self._url,
                data=body,
                headers=self._headers,
                timeout=self._limit,
                proxy=self._proxy,
            ) as answer:
                return Response(answer.status, answer.headers, await answer.read())
        except (aiohttp.ClientError, OSError) as error:
            raise self._explained(error) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._sdk.close()

    def _explained(self, error: Exception) -> NoAnswer:
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
            return Unreachable(_reason(error))
        if isinstance(error, TimeoutError):
            return Late(f"no answer within {self._seconds:g} seconds")
        said = one_line(str(error)) or type(error).__name__
        return (
            Closed(said) if isinstance(error, aiohttp.ClientConnectionResetError) else Dropped(said)
        )


def _with_credentials(proxy: httpx2.Proxy) -> str:
    user, password = proxy.auth or ("", "")
    return str(proxy.url.copy_with(username=user, password=password))


def _reason(error: aiohttp.ClientError) -> str:
    """Why a connection could not be made, in a few words."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no answer within {CONNECT_SECONDS:g} seconds"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "no such host"
    under = getattr(error, "os_error", error)
    if isinstance(under, ConnectionRefusedError):
        return "connection refused"
    return one_line(str(under)) or type(under).__name__
