"""A small server for tests of the page: it serves given files and keeps what it was sent."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from deniable.app.web.survey.page import CONTENT_TYPES, page_files, page_headers


class StubServer:
    """Serves bytes by path. `requests` holds every request: method, path, headers and body."""

    def __init__(self, pages, secret=None):
        self.pages, self.secret = pages, secret
        self.requests, self.status, self.refusal = [], 200, b'{"problem":"No."}'
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    @classmethod
    def of_survey(cls, manifest, secret=None):
        """Serves a survey as the real server does."""
        address = f"/s/{manifest.survey}"
        pages = {
            address + (name if name[:1] in ("", "?") else f"/{name}"): content
            for name, (content, _) in page_files(manifest).items()
        }
        server = cls(pages, secret)
        server.address = server.origin + address
        return server

    def sent(self, path="report"):
        """The bodies that were posted to a path."""
        return [
            body
            for method, where, _, body in self.requests
            if method == "POST" and where.endswith(f"/{path}")
        ]

    def __enter__(self):
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        return self

    def __exit__(self, *problem):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path, body):
        """What is answered to a post: a blind signature, or a constant."""
        if path.endswith("/exchange"):
            blinded = json.loads(body)["blinded"]
            number = int.from_bytes(urlsafe_b64decode(blinded + "=" * (-len(blinded) % 4)))
            n = self.secret.public_numbers.n
            signature = pow(number, self.secret.d, n).to_bytes(n.bit_length() // 8)
            text = urlsafe_b64encode(signature).decode().rstrip("=")
            return json.dumps({"signature": text}).encode()
        return b'{"status":"received"}'

    def _handler(server):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def reply(self, status, kind, body):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Access-Control-Allow-Origin", "*")
                for name, value in page_headers().items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                server.requests.append(("GET", self.path, dict(self.headers), b""))
                body = server.pages.get(self.path)
                suffix = f".{self.path.rpartition('.')[2]}"
                kind = CONTENT_TYPES.get(suffix, CONTENT_TYPES[".html"])
                self.reply(200 if body else 404, kind, body or b"")

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.requests.append(("POST", self.path, dict(self.headers), body))
                answer = server.refusal
                if server.status == 200:
                    answer = server.answer(self.path, body)
                self.reply(server.status, "application/json", answer)

        return Handler
