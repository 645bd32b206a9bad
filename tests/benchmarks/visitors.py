"""Busy visitors of the app without browsers: ``python -m tests.benchmarks.visitors 20``.

Each opens a page as a browser does, and moves ε again and again while the server's health is asked.
Printed: the slowest answer of its health, and memory before, at most, once they have left and their
sessions have ended, and after as many others.
"""

import asyncio
import json
import sys
import time
import urllib.request
from pathlib import Path

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.conftest import ROOT, serving

PAGES = (
    "data=city-250k&method=privtree",
    "data=city-50k&method=kdtree",
    "data=city-50k&method=dawa",
)
SECONDS = 20
"""How long visitors are busy."""

ENDED = 150
"""Seconds after which the sessions of those who left have ended; Streamlit keeps them for 120."""

MOST = 50
"""Visitors that a run may hold."""


def rerun(query):
    message = BackMsg()
    message.rerun_script.query_string = query
    return message.SerializeToString()


async def visit(address, number, until, counts):
    """One visitor: a new release as soon as the last has come; one at least."""
    url = address.replace("http", "ws") + "/_stcore/stream"
    async with websockets.connect(url, max_size=None, subprotocols=["streamlit"]) as line:
        turn = 0
        while turn == 0 or time.monotonic() < until:
            epsilon = 0.1 + 0.01 * ((7 * number + turn) % 90)
            await line.send(rerun(f"{PAGES[number % len(PAGES)]}&epsilon={epsilon:.2f}"))
            turn += 1
            while time.monotonic() < until + 60:
                answer = ForwardMsg()
                answer.ParseFromString(await asyncio.wait_for(line.recv(), 90))
                if answer.delta.new_element.WhichOneof("type") == "exception":
                    counts["failed"] = counts.get("failed", 0) + 1
                if answer.WhichOneof("type") == "script_finished":
                    counts["runs"] += 1
                    break


async def health(address, until, delays):
    """Ask the server's health twice a second."""

    def ask():
        started = time.monotonic()
        urllib.request.urlopen(f"{address}/_stcore/health", timeout=60).close()
        return time.monotonic() - started

    while time.monotonic() < until:
        delays.append(await asyncio.to_thread(ask))
        await asyncio.sleep(0.5)


def memory(port, field="VmRSS"):
    """Resident MB of the server that listens at a port of this machine; ``VmHWM``: at most."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"streamlit" in words and str(port).encode() in words:
                rows = (folder / "status").read_text().splitlines()
                return next(int(row.split()[1]) for row in rows if row.startswith(field)) >> 10
        except OSError:
            continue
    raise LookupError(port)


async def busy(address, visitors, seconds):
    until = time.monotonic() + seconds
    counts, delays = {"runs": 0}, []
    tasks = [visit(address, number, until, counts) for number in range(visitors)]
    done = await asyncio.gather(*tasks, health(address, until, delays), return_exceptions=True)
    counts["lost"] = sum(isinstance(each, Exception) for each in done)
    return counts, delays


def measured(visitors, seconds=SECONDS):
    """Runs, sessions lost, the slowest health answer in seconds, and memory in MB."""
    with serving(ROOT / "app.py") as address:
        port = int(address.rpartition(":")[2])
        asyncio.run(busy(address, 1, 2))  # what is loaded once
        before = memory(port)
        counts, delays = asyncio.run(busy(address, min(visitors, MOST), seconds))
        most = memory(port, "VmHWM")
        time.sleep(ENDED)
        after = memory(port)
        counts_again, _ = asyncio.run(busy(address, min(visitors, MOST), seconds))
        most_again = memory(port, "VmHWM")
        time.sleep(ENDED)
        again = memory(port)
    return {
        "visitors": visitors,
        "runs": counts["runs"] + counts_again["runs"],
        "lost": counts["lost"] + counts_again["lost"],
        "health": round(max(delays), 3),
        "MB before": before,
        "MB at most": most,
        "MB after they left": after,
        "MB at most with as many others": most_again,
        "MB after those left": again,
    }


if __name__ == "__main__":
    print(json.dumps(measured(int(sys.argv[1]))))
