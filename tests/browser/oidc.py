"""Small OpenID Connect provider on loopback: it logs everybody in as one given user."""

import json
import threading
import time
import urllib.parse
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "dpviz"


@contextmanager
def provider(claims, port=0):
    """Address of the provider; ``claims`` are read again at every login."""
    key = RSAKey.generate_key(2048, parameters={"kid": "1", "use": "sig", "alg": "RS256"})
    nonces = {}

    class Provider(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def send(self, value, status=200, **headers):
            body = json.dumps(value).encode()
            self.send_response(status)
            for name, text in {"content-type": "application/json", **headers}.items():
                self.send_header(name, text)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            path, _, query = self.path.partition("?")
            asked = dict(urllib.parse.parse_qsl(query))
            if path == "/authorize":
                code = f"code-{len(nonces)}"
                nonces[code] = asked.get("nonce")
                back = urllib.parse.urlencode({"code": code, "state": asked["state"]})
                self.send({}, 302, location=f"{asked['redirect_uri']}?{back}")
            elif path == "/keys":
                self.send({"keys": [key.as_dict(private=False)]})
            else:
                self.send(
                    {
                        "issuer": address,
                        "authorization_endpoint": f"{address}/authorize",
                        "token_endpoint": f"{address}/token",
                        "jwks_uri": f"{address}/keys",
                        "response_types_supported": ["code"],
                        "subject_types_supported": ["public"],
                        "id_token_signing_alg_values_supported": ["RS256"],
                    }
                )

        def do_POST(self):
            text = self.rfile.read(int(self.headers["content-length"])).decode()
            code = dict(urllib.parse.parse_qsl(text))["code"]
            now = int(time.time())
            token = {"iss": address, "aud": CLIENT, "iat": now, "exp": now + 600, **claims}
            token["nonce"] = nonces.pop(code)  # a code is valid once
            signed = jwt.encode({"alg": "RS256", "kid": "1"}, token, key)
            self.send({"access_token": "a", "token_type": "Bearer", "id_token": signed})

    server = ThreadingHTTPServer(("127.0.0.1", port), Provider)
    address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
