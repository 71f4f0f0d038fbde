"""One call with its retries, and its refusal as an exception.

Temporary failures are retried: UNAVAILABLE (the daemon restarts, a brain is being recovered, a connection was lost),
and a full queue. Reads change nothing, and writes carry a request id, so a retry never applies a change twice.
Promises: no attempt begins later than `retry_for` seconds after the first failure.
"""

from __future__ import annotations

import os
import random
import threading
import time
import uuid
from typing import Any, Dict, Optional

import grpc

from . import _wire
from .errors import Refused, refused

#: Maximum of the first pause, in seconds; each further one is at most twice as long.
FIRST_PAUSE = 0.02
#: Maximum of any pause, in seconds.
LONGEST_PAUSE = 2.0


def new_request_id() -> str:
    """A UUIDv7: 48 bits of milliseconds, then random bits."""
    chance = int.from_bytes(os.urandom(10), "big")
    number = (time.time_ns() // 1_000_000) << 80 | chance
    number = number & ~(0xF << 76) | 7 << 76
    number = number & ~(3 << 62) | 2 << 62
    return str(uuid.UUID(int=number))


def is_passing(refusal: Refused) -> bool:
    """True if a retry of the same request may succeed soon."""
    if refusal.code == "RESOURCE_EXHAUSTED":
        return refusal.reason in ("QUEUE_FULL", "LOAD")
    return refusal.code == "UNAVAILABLE"


def refusal_of(error: grpc.RpcError) -> Refused:
    """The refusal in a gRPC error."""
    reason = ""
    metadata: Dict[str, str] = {}
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            reason, metadata = _wire.error_info(value)
    return refused(error.code().name, reason, error.details() or "", metadata)


class Attempts:
    """The attempts of one call, or of one stream."""

    def __init__(self, retry_for: float) -> None:
        self._retry_for = retry_for
        self._until: Optional[float] = None
        self._pause = FIRST_PAUSE

    def progress(self) -> None:
        """Restarts the time for attempts with the next failure."""
        self._until, self._pause = None, FIRST_PAUSE

    def wait(self, refusal: Refused, stopped: Optional[threading.Event] = None) -> None:
        """Waits until the next attempt; raises the refusal if it is final or the time is up."""
        now = time.monotonic()
        if self._until is None:
            self._until = now + self._retry_for
        # Half of the pause is random, so that clients refused together do not retry together.
        pause = self._pause * (0.5 + random.random() / 2)
        if not is_passing(refusal) or now + pause > self._until:
            raise refusal
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        if stopped is None:
            time.sleep(pause)
        else:
            stopped.wait(pause)


class Caller:
    """Calls over a channel."""

    def __init__(self, channel: Any, token: Optional[str], timeout: float, retry_for: float) -> None:
        self.channel = channel
        self.timeout = timeout
        self.retry_for = retry_for
        self.metadata = [("authorization", f"Bearer {token}")] if token else []
        self._unary: Dict[str, Any] = {}

    def call(self, name: str, request: Dict[str, Any]) -> Any:
        """A unary call, with retries."""
        method = _wire.METHODS[name]
        if name not in self._unary:
            self._unary[name] = self.channel.unary_unary(
                method.path,
                request_serializer=method.request.SerializeToString,
                response_deserializer=method.response.FromString,
            )
        message = method.request(**request)
        attempts = Attempts(self.retry_for)
        while True:
            try:
                return self._unary[name](message, metadata=self.metadata, timeout=self.timeout)
            except grpc.RpcError as error:
                refusal = refusal_of(error)
            options = request.get("options")
            if options:
                refusal.metadata["request_id"] = options["request_id"]
            attempts.wait(refusal)

    def stream(self, name: str, request: Dict[str, Any]) -> Any:
        """Begins a call with a stream of responses and no deadline."""
        method = _wire.METHODS[name]
        begin = self.channel.unary_stream(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        return begin(method.request(**request), metadata=self.metadata)
