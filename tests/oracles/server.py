"""A server on loopback that speaks the chat completions protocol and replies as a script says.

    async with serve(script) as server: ...     in a test
    python tests/oracles/server.py plain 0.1    in a process of its own; the first line that it prints is its address

A script is called for every request, with the body and the number of the request from 0, and returns the reply. The
server keeps the requests and the replies.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.client import responses
from typing import Any

CODE = "```python\ndef act(view):\n    return view.legal[0]\n```"
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def completion(
    content: object = CODE, finish: object = "stop", usage: object = USAGE, **message: object
) -> dict[str, Any]:
    """Return the body of an answer, without usage if `usage` is None."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
    }
    return body if usage is None else body | {"usage": usage}


def error(message: str, **more: object) -> dict[str, Any]:
    """Return the body of an error."""
    return {"error": {"message": message, **more}}


@dataclass(frozen=True)
class Does:
    """How to reply. `drop` closes the connection: `before` anything is sent, or in the `middle` of the body."""

    body: object = field(default_factory=completion)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: str = ""
    content_type: str = "application/json"


Script = Callable[[dict[str, Any], int], Does]


def in_turn(*replies: Does) -> Script:
    """Return a script that replies with each of these in turn, and then always with the last."""
    return lambda body, number: replies[min(number, len(replies) - 1)]


@dataclass(frozen=True)
class Request:
    """A request as it was sent."""

    target: str
    headers: Mapping[str, str]
    body: bytes


class Server:
    """The requests that a server got, and its replies."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.answered: Counter[str] = Counter()
        self.under_way = 0
        self.most_under_way = 0
        self.late = 0.0
        self.connections: set[asyncio.Transport] = set()

    async def hang_up(self) -> None:
        """Close all connections that are kept open, whether or not the client notices it."""
        for transport in self.connections:
            transport.close()
        await asyncio.sleep(0)

    def take(self, request: Request, transport: asyncio.Transport) -> None:
        """Reply to a request after the delay that its script asks for."""
        if request.target == "/tally":
            transport.write(_response(Does(self.tally), json.dumps(self.tally).encode()))
            return
        body = json.loads(request.body)
        number = len(self.asked)
        self.asked.append(body)
        self.headers.append(request.headers)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        does = self.script(body, number)
        loop = asyncio.get_running_loop()
        due = loop.time() + does.delay
        loop.call_at(due, self._reply, body, does, transport, due)

    def _reply(
        self, body: dict[str, Any], does: Does, transport: asyncio.Transport, due: float
    ) -> None:
        self.under_way -= 1
        self.late += asyncio.get_running_loop().time() - due
        raw = does.body if isinstance(does.body, bytes) else json.dumps(does.body).encode()
        response = _response(does, raw)
        if does.drop:
            transport.write(response[: -len(raw) // 2] if does.drop == "middle" else b"")
            transport.close()
            return
        if does.status == 200:
            self.answered[body["messages"][-1]["content"]] += 1
        transport.write(response)

    @property
    def tally(self) -> dict[str, float]:
        """The number of requests, the most answers that a prompt got, and by how many seconds replies were late."""
        times = self.answered.values()
        return {
            "requests": len(self.asked),
            "prompts": len(self.answered),
            "answers": sum(times),
            "most": max(times, default=0),
            "under_way": self.most_under_way,
            "late": self.late,
        }


class Connection(asyncio.Protocol):
    """A connection with one request after the other, each sent when the one before it has been answered.

    The code does as little as possible, because it shares the machine with the client that is being measured.
    """

    transport: asyncio.Transport

    def __init__(self, server: Server) -> None:
        self._server = server
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._server.connections.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.connections.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, end, body = self._data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines if end)
        if end and len(body) >= int(headers.get("Content-Length", 0)):
            self._data = b""
            self._server.take(Request(first.split()[1], headers, body), self.transport)


def _response(does: Does, raw: bytes) -> bytes:
    headers = {"Content-Type": does.content_type, "Content-Length": len(raw), **does.headers}
    lines = [f"HTTP/1.1 {does.status} {responses.get(does.status, '')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + raw


@asynccontextmanager
async def serve(script: Script | Does = Does()) -> AsyncIterator[Server]:
    """Run a server on a free port."""
    server = Server(in_turn(script) if isinstance(script, Does) else script)
    listening = await asyncio.get_running_loop().create_server(
        lambda: Connection(server), "127.0.0.1", 0, backlog=1024
    )
    port = listening.sockets[0].getsockname()[1]
    server.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield server
    finally:
        listening.close()
        await server.hang_up()


def plain(latency: float) -> Script:
    """Return a script that answers every request after some seconds."""
    return in_turn(Does(delay=latency))


def troubled(latency: float) -> Script:
    """Return a script like `plain` in which every eighth request fails at once, in one of several ways."""
    busy = Does(error("slow down"), status=429, headers={"retry-after": "0.05"})
    broken = Does(error("overloaded"), status=503)
    troubles = (busy, Does(drop="before"), Does(drop="middle"), broken)
    answer = Does(delay=latency)
    return lambda body, number: troubles[number // 8 % 4] if number % 8 == 3 else answer


async def _run(script: Script | Does) -> None:
    async with serve(script) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    made = {"plain": plain, "troubled": troubled}[sys.argv[1]]
    asyncio.run(_run(made(float(sys.argv[2]))))
