"""A provider of log-ins on this machine, which can be told to lie."""

import base64
import hashlib
import hmac
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

KEY = RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})


class FakeProvider:
    """Gives codes for subjects and tokens for codes. `claims` and `sign` may be replaced."""

    def __init__(self, issuer, now):
        self.issuer, self._now = issuer, now
        self.codes, self.subject, self.seen = {}, "17", []
        self.client_id, self.secret = "deniable", "provider's secret"
        self.claims, self.sign = dict, sign
        self.document = {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "jwks_uri": f"{issuer}/keys",
            "authorization_response_iss_parameter_supported": True,
        }

    def authorize(self, url):
        """What the provider sends a browser back with that comes by this URL."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        code = hashlib.sha256(query["state"].encode()).hexdigest()
        self.codes[code] = (query, self.subject)
        return {"code": code, "state": query["state"], "iss": self.issuer}

    def token(self, form, authorization):
        expected = base64.b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        self.seen.append(dict(form))
        query, subject = self.codes.pop(form.get("code"), (None, None))
        challenge = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        wanted = base64.urlsafe_b64encode(challenge).rstrip(b"=").decode()
        if (
            query is None
            or query["code_challenge"] != wanted
            or query["redirect_uri"] != form["redirect_uri"]
            or authorization != f"Basic {expected}"
        ):
            return 400, {"error": "invalid_grant"}
        now = int(self._now().timestamp())
        claims = {
            "iss": self.issuer,
            "sub": subject,
            "aud": self.client_id,
            "iat": now,
            "exp": now + 300,
            "nonce": query["nonce"],
            "email": "ann@clinic.example",
        }
        token = self.sign(self.claims(claims))
        return 200, {"access_token": "a", "token_type": "Bearer", "id_token": token}


def sign(claims, *, key=KEY, header=None):
    return jwt.encode(header or {"alg": "RS256", "kid": "1"}, claims, key)


def sign_with_nothing(claims):
    """alg none, as forgers write it."""
    parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
    return ".".join(base64.urlsafe_b64encode(p).rstrip(b"=").decode() for p in parts) + "."


def sign_with_public_key(claims):
    """HS256 with the public key, which everybody knows, as its secret."""
    public = KEY.as_pem(private=False)
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
        for part in ({"alg": "HS256", "kid": "1"}, claims)
    )
    mac = hmac.digest(public, f"{head}.{body}".encode(), "sha256")
    return f"{head}.{body}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


@contextmanager
def running_provider(now):
    """A provider that listens on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            keys = {"keys": [KEY.as_dict(private=False)]}
            documents = {
                "/.well-known/openid-configuration": provider.document,
                "/keys": keys,
            }
            content = documents.get(urlsplit(self.path).path)
            self.answer(404 if content is None else 200, content)

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self.answer(*provider.token(form, self.headers.get("authorization")))

        def answer(self, status, document):
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = FakeProvider(f"http://127.0.0.1:{server.server_port}", now)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()


def return_path(name, answer):
    return f"/login/{name}/return?{urlencode(answer)}"
