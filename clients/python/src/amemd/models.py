"""Models of servers that speak OpenAI's `/chat/completions`, by the standard library alone.

Promises: the key is read from the environment for each request, goes into one header, and is in no `repr`, log or
error. Without TLS requests go to this machine only, unless `allow_http`. Redirects are not followed, proxies not used.
Not here: tools, images, other shapes of requests. Any callable is a model (`amemd.agent.Model`).
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import re
import socket
import ssl
import time
from typing import Any, Iterator, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import urlsplit

from .errors import ModelError

#: Bytes of a line of a stream, and of an answer in one piece.
_LINE_BYTES_MAX = 1 << 20
#: Bytes of a refusal that are read.
_REFUSAL_BYTES_MAX = 64 << 10
#: Characters of a server's own words that an error repeats.
_WORDS_CHARS_MAX = 300
#: A name in upper case, so that a key in the place of its name is refused.
_NAME = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)
_KEY = re.compile(r"[\x21-\x7e]+", re.ASCII)


class OpenAIModel:
    """A model of a server that speaks OpenAI's `/chat/completions`: a callable that gives an answer piece by piece.

    `base_url` is such as `https://api.openai.com/v1`. `key_env` is the name of the environment variable with the key.
    `timeout` is for the connection and for each wait for the next piece, `time_max` for the whole answer, in seconds.
    `options` are more fields of requests, such as `{"temperature": 0.2}`. `allow_http` allows requests without TLS to
    other machines. ModelError if the server refuses, fails or stops before the end.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key_env: Optional[str] = None,
        timeout: float = 60.0,
        time_max: float = 600.0,
        options: Optional[Mapping[str, Any]] = None,
        allow_http: bool = False,
    ) -> None:
        try:
            parts = urlsplit(base_url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ValueError("base_url is not a URL") from None
        # Those parts may be secrets, so that the text is not repeated.
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            raise ValueError("base_url has a user, a query or a fragment: keys go into the variable that key_env names")
        if parts.scheme not in ("http", "https") or not host:
            raise ValueError("base_url does not begin with http:// or https:// and a host")
        if parts.scheme == "http" and not allow_http and not _is_here(host):
            raise ValueError(f"{host} is another machine: use https, or pass allow_http=True")
        if key_env is not None and not _NAME.fullmatch(key_env):
            raise ValueError("key_env is the name of an environment variable in upper case, not the key")
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.key_env = key_env
        self._place = (parts.scheme, host, port, parts.path.rstrip("/") + "/chat/completions")
        self._timeout = timeout
        self._time_max = time_max
        self._options = dict(options or {})

    def __repr__(self) -> str:
        return f"OpenAIModel({self.base_url!r}, {self.model!r}, key_env={self.key_env!r})"

    def __call__(self, messages: Sequence[Mapping[str, str]]) -> Iterator[str]:
        key = self._key()
        body = {**self._options, "model": self.model, "messages": [dict(one) for one in messages], "stream": True}
        headers = {"content-type": "application/json", "accept": "text/event-stream, application/json"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        connection = self._connection()
        try:
            connection.request("POST", self._place[3], json.dumps(body).encode("ascii"), headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise self._refusal(answer, key)
            if "text/event-stream" in (answer.getheader("content-type") or ""):
                yield from self._streamed(answer, key)
            else:
                yield self._whole(answer, key)
        except (OSError, http.client.HTTPException) as error:
            # Their texts may repeat headers and lines of the server.
            raise ModelError(f"{self._named()}: {self._why(error)}") from None
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        scheme, host, port, _ = self._place
        if scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._timeout)
        return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=ssl.create_default_context())

    def _named(self) -> str:
        return f"the model {self.model!r} at {self.base_url}"

    def _key(self) -> str:
        if self.key_env is None:
            return ""
        key = os.environ.get(self.key_env, "").strip()
        if not key:
            raise ModelError(f"the environment variable {self.key_env} has no key for {self._named()}")
        if not _KEY.fullmatch(key):
            raise ModelError(f"the environment variable {self.key_env} has characters that no key has")
        return key

    def _why(self, error: Exception) -> str:
        if isinstance(error, (TimeoutError, socket.timeout)):
            return f"it was silent for {self._timeout:g} s"
        if isinstance(error, ssl.SSLError):
            return f"TLS failed ({error.reason or type(error).__name__})"
        if isinstance(error, OSError):
            return f"it cannot be reached ({error.strerror or type(error).__name__})"
        return f"its answer is not HTTP, or ends early ({type(error).__name__})"

    def _refusal(self, answer: http.client.HTTPResponse, key: str) -> ModelError:
        status = answer.status
        if status in (401, 403):
            # Servers repeat parts of a key.
            what = f"the key in {self.key_env}" if self.key_env else "a request without a key (key_env)"
            return ModelError(f"{self._named()} refuses {what} (HTTP {status})", status)
        if 300 <= status < 400:
            return ModelError(f"{self._named()} redirects (HTTP {status}): set base_url to where it is", status)
        words = answer.read(_REFUSAL_BYTES_MAX).decode("utf-8", "replace")
        try:
            words = _words(json.loads(words)) or words
        except ValueError:
            pass
        return ModelError(f"{self._named()} refuses (HTTP {status}): {_shown(words, key)}", status)

    def _whole(self, answer: http.client.HTTPResponse, key: str) -> str:
        read = answer.read(_LINE_BYTES_MAX + 1)
        if len(read) > _LINE_BYTES_MAX:
            raise ModelError(f"{self._named()}: its answer has more than {_LINE_BYTES_MAX} bytes")
        return self._text(read, key, "message")[0]

    def _streamed(self, answer: http.client.HTTPResponse, key: str) -> Iterator[str]:
        until = time.monotonic() + self._time_max
        data: List[bytes] = []
        is_ended = False
        while True:
            line = answer.readline(_LINE_BYTES_MAX + 1)
            if len(line) > _LINE_BYTES_MAX or sum(map(len, data)) > _LINE_BYTES_MAX:
                raise ModelError(f"{self._named()}: a piece of its answer has more than {_LINE_BYTES_MAX} bytes")
            if time.monotonic() > until:
                raise ModelError(f"{self._named()}: its answer takes more than {self._time_max:g} s")
            text = line.rstrip(b"\r\n")
            if text.startswith(b"data:"):
                data.append(text[6:] if text.startswith(b"data: ") else text[5:])
            elif not text and data:
                event, data = b"\n".join(data), []
                if event.strip() == b"[DONE]":
                    return
                piece, is_last = self._text(event, key, "delta")
                is_ended = is_ended or is_last
                if piece:
                    yield piece
            if not line:
                break
        if not is_ended:
            raise ModelError(f"{self._named()}: its answer breaks off")

    def _text(self, data: bytes, key: str, part: str) -> Tuple[str, bool]:
        """The text of an answer or of a piece, and whether it is the last one."""
        try:
            found = json.loads(data)
        except ValueError:
            raise ModelError(f"{self._named()}: its answer is not JSON") from None
        if isinstance(found, dict) and found.get("error"):
            raise ModelError(f"{self._named()} fails: {_shown(_words(found), key)}")
        choices = found.get("choices") if isinstance(found, dict) else None
        first = choices[0] if isinstance(choices, list) and choices else {}
        if not isinstance(first, dict):
            first = {}
        holder = first.get(part)
        content = holder.get("content") if isinstance(holder, dict) else None
        return _joined(content), bool(first.get("finish_reason"))


def _joined(content: Any) -> str:
    """The text of a content: a text, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _words(found: Any) -> str:
    """The words of a server's error."""
    error: Any = found.get("error", found) if isinstance(found, dict) else ""
    if isinstance(error, dict):
        error = error.get("message", "")
    return error if isinstance(error, str) else ""


def _shown(words: str, key: str) -> str:
    """A server's words: short, on one line, without the key."""
    if key:
        words = words.replace(key, "[key]")
    words = " ".join("".join(one if one.isprintable() else " " for one in words).split())
    return words[:_WORDS_CHARS_MAX] or "it does not say why"


def _is_here(host: str) -> bool:
    """True if a host is this machine, without a name lookup."""
    try:
        address = ipaddress.ip_address(host)
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback
    except ValueError:
        return host.lower() == "localhost"


__all__ = ["OpenAIModel"]
