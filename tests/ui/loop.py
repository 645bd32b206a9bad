"""A coroutine to its end, also in a process whose main thread drives a browser."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run(coroutine):
    """What it gives; in a thread of its own, since a browser's driver keeps a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
