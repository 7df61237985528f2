"""Carries requests to a server: the only place that knows `openai`, `aiohttp` and `httpx2`.

The SDK's transport on aiohttp reports every connection that fails as a time-out, and may write into a connection that
has just been closed; both are told apart here by the error underneath. Requests go straight to that transport: of the
time that the SDK spends on a request, sending it is a third.
"""

import gc
from collections.abc import Mapping
from dataclasses import dataclass

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


class Dropped(NoAnswer):
    """The connection broke off, and what was sent may have been read."""


@dataclass(frozen=True)
class Response:
    """What a server answered; names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Connections to one server, `most` at the same time, kept open in between."""

    def __init__(self, secret: str, base_url: str, most: int) -> None:
        self._http = openai.DefaultAioHttpClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
        )
        self._sdk = openai.AsyncOpenAI(
            api_key=secret, base_url=base_url, max_retries=0, http_client=self._http
        )
        self._url = httpx2.URL(f"{base_url}/chat/completions")
        headers = {
            name: value
            for name, value in self._sdk.default_headers.items()
            if isinstance(value, str) and not name.startswith("X-Stainless")
        }
        self._headers = httpx2.Headers({**headers, "Authorization": f"Bearer {secret}"})

    async def post(self, body: bytes) -> Response:
        """The answer to one request. Raises `NoAnswer`, as one of its kinds."""
        # As it is sent, so that nothing of the client is left to be merged into it.
        request = httpx2.Request("POST", self._url, headers=self._headers, content=body)
        try:
            answer = await self._http.send(request)
        except (httpx2.HTTPError, httpx2.InvalidURL, aiohttp.ClientError, OSError) as error:
            raise _explained(_underneath(error)) from error
        return Response(answer.status_code, answer.headers, answer.content)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._sdk.close()


def _underneath(error: BaseException) -> BaseException:
    """The error of aiohttp's that an error of the SDK's comes from; else the first of all."""
    while not isinstance(error, aiohttp.ClientError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _explained(error: BaseException) -> NoAnswer:
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return Unreachable(_reason(error))
    said = one_line(str(error)) or type(error).__name__
    return Closed(said) if isinstance(error, aiohttp.ClientConnectionResetError) else Dropped(said)


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
