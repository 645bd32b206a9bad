"""A coroutine to its end, also in a process whose main thread drives a browser."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run(coroutine):
    """Run a coroutine in its own thread: a browser's driver keeps a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def answers(app, headers, **scope):
    """The messages with which an application answers a request."""
    sent = []

    async def receive():
        await asyncio.Event().wait()  # a browser that sends nothing more

    async def send(message):
        sent.append(message)

    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    run(app({"type": "http", **scope, "headers": given}, receive, send))
    return sent
