"""An evaluator that costs next to nothing: every session gets one score, at once or after a time.

    python -m bench.scorer PORT LATENCY_SECS

It holds all calls until somebody sends `GET /open`, so that a measurement begins with every job
waiting. `GET /report` lists the times of the calls of each session.
"""

import asyncio
import sys
import time
from collections import defaultdict

import msgspec

_SCORED = b'{"scores":{"task_success":1.0},"reasoning":{"task_success":"it did"},"summary":"done"}'
_CONFIG = b'{"inactivity_timeout_secs":8}'
_NAME = b'"session_id":"'


class Scorer:
    """The calls so far, by session: (began, ended) in seconds since the epoch."""

    def __init__(self, latency_secs: float) -> None:
        self._latency_secs = latency_secs
        self._open = asyncio.Event()
        self._calls: dict[str, list[tuple[float, float]]] = defaultdict(list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the requests of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                _, _, length = head.lower().partition(b"\r\ncontent-length:")
                body = await reader.readexactly(int(length.split(b"\r\n")[0] or 0))
                answer = await self._answer(head.split(b" ", 2)[1].decode(), body)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(answer), answer))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, body: bytes) -> bytes:
        if path == "/evaluate":
            await self._score(body)
            return _SCORED
        if path == "/report":
            return msgspec.json.encode(self._calls)
        if path == "/open":
            self._open.set()
        return _CONFIG

    async def _score(self, body: bytes) -> None:
        start = body.index(_NAME) + len(_NAME)
        session_id = body[start : body.index(b'"', start)].decode()
        await self._open.wait()
        began = time.time()
        if self._latency_secs:
            await asyncio.sleep(self._latency_secs)
        self._calls[session_id].append((began, time.time()))


async def main(port: int, latency_secs: float) -> None:
    """Serves until the process is ended."""
    scorer = Scorer(latency_secs)
    limit = 32 * 1024 * 1024
    server = await asyncio.start_server(scorer.serve, "127.0.0.1", port, backlog=512, limit=limit)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
