"""Reverse proxy on loopback that forwards one path, as hosts of many apps do."""

import socket
import threading
from contextlib import contextmanager, suppress

TOO_LONG = 65_536


def relay(source, target):
    """Hands on bytes until one side ends."""
    with suppress(OSError):
        while piece := source.recv(TOO_LONG):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


def head_of(connection):
    """The first bytes of a request, as far as its blank line at least."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < TOO_LONG:
        piece = connection.recv(TOO_LONG)
        if not piece:
            break
        head += piece
    return head


@contextmanager
def proxy(port, path):
    """Yield its address, and the requested paths outside ``path``, all answered by 404.

    One request a connection, so that each of them is seen.
    """
    outside = []
    server = socket.create_server(("127.0.0.1", 0), backlog=64)

    def serve(connection):
        with connection, suppress(OSError):
            head = head_of(connection)
            line, _, rest = head.partition(b"\r\n")
            asked = line.split(b" ")[1].decode() if line.count(b" ") == 2 else ""
            if not asked.startswith(f"{path}/"):
                outside.append(asked)
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                return
            more = b"X-Forwarded-For: 192.0.2.7\r\n"
            if b"upgrade: websocket" not in rest.lower():
                rest = rest.replace(b"Connection: keep-alive", b"Connection: close")
            with socket.create_connection(("127.0.0.1", port)) as app:
                app.sendall(line + b"\r\n" + more + rest)
                back = threading.Thread(target=relay, args=(app, connection), daemon=True)
                back.start()
                relay(connection, app)
                back.join()

    def accept():
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}{path}", outside
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
