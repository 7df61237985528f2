"""A server on loopback that speaks the chat completions protocol and does as it is told.

    async with serve(script) as server: ...     in a test
    python tests/oracles/server.py plain 0.1    in a process of its own; the first line that it prints is its address

A script is asked for every request, with its body and its number from 0, and says how to reply. The server keeps what
it was asked and what it answered in full.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

CODE = "```python\ndef act(view):\n    return view.legal[0]\n```"
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def completion(
    content: object = CODE, finish: object = "stop", usage: object = USAGE, **message: object
) -> dict[str, Any]:
    """The body of an answer; `usage` None is left out."""
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
    """The body of an error."""
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
    """Reply with each in turn, and with the last from then on."""
    return lambda body, number: replies[min(number, len(replies) - 1)]


class Server:
    """What was asked of it, and what came of it."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.answered: Counter[str] = Counter()
        self.under_way = 0
        self.most_under_way = 0
        self._open: set[asyncio.Transport] = set()

    async def hang_up(self) -> None:
        """Close all connections that are kept open, and let the other side notice or not."""
        for transport in self._open:
            transport.close()
        self._open.clear()
        await asyncio.sleep(0)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """A request for a chat completion."""
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self._reply(request)
        finally:
            self.under_way -= 1

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        self._open.add(request.transport)  # type: ignore[arg-type]
        body = await request.json()
        number = len(self.asked)
        self.asked.append(body)
        self.headers.append(dict(request.headers))
        does = self.script(body, number)
        await asyncio.sleep(does.delay)
        raw = does.body if isinstance(does.body, bytes) else json.dumps(does.body).encode()
        if does.drop:
            return await self._drop(request, does, raw)
        if does.status == 200:
            self.answered[body["messages"][-1]["content"]] += 1
        return web.Response(
            body=raw, status=does.status, headers=does.headers, content_type=does.content_type
        )

    async def _drop(self, request: web.Request, does: Does, raw: bytes) -> web.StreamResponse:
        assert request.transport is not None
        response = web.StreamResponse(headers={"Content-Length": str(len(raw))})
        if does.drop == "middle":
            await response.prepare(request)
            await response.write(raw[: len(raw) // 2])
        request.transport.close()
        return response

    async def tally(self, request: web.Request) -> web.Response:
        """How many requests there were, and the most and fewest answers that a prompt got."""
        times = self.answered.values()
        return web.json_response(
            {
                "requests": len(self.asked),
                "prompts": len(self.answered),
                "answers": sum(times),
                "most": max(times, default=0),
                "under_way": self.most_under_way,
            }
        )


@asynccontextmanager
async def serve(script: Script | Does = Does()) -> AsyncIterator[Server]:
    """A server on a port of its own."""
    server = Server(in_turn(script) if isinstance(script, Does) else script)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.handle)
    app.router.add_get("/tally", server.tally)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        port = runner.addresses[0][1]
        server.url = f"http://127.0.0.1:{port}/v1"
        yield server
    finally:
        await runner.cleanup()


def plain(latency: float) -> Script:
    """Every request is answered, after a while."""
    return in_turn(Does(delay=latency))


def troubled(latency: float) -> Script:
    """The same, but every eighth request fails at once, in one way or another."""
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
