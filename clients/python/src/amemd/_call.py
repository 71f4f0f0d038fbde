"""One call with its retries, and its refusal as an exception.

Temporary failures are retried: UNAVAILABLE (the daemon restarts, a brain is being recovered, a connection was lost),
and a full queue. Reads change nothing, and writes carry a request id, so a retry never applies a change twice. Before a
retry after a lost connection, the client finds the daemon again, which may listen elsewhere now.
Promises: no attempt begins later than `retry_for` seconds after the first failure; if no daemon answers, the error says
so in the words of this package, not in gRPC's.
"""

from __future__ import annotations

import os
import random
import threading
import time
import uuid
from typing import Any, Callable, Dict, List, Optional

import grpc

from . import _meet, _wire
from .errors import NO_DAEMON, Refused, refused

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
    code = error.code().name
    if code == "UNAVAILABLE" and not reason:
        # The daemon names a reason; this is gRPC's, whose words are for its developers.
        return _meet.unavailable("the daemon does not answer")
    return refused(code, reason, error.details() or "", metadata)


class Attempts:
    """The attempts of one call, or of one stream."""

    def __init__(self, caller: "Caller", retry_for: Optional[float] = None) -> None:
        self._caller = caller
        #: Seconds, instead of the caller's; None for the caller's.
        self._retry_for = retry_for
        #: The time of the first failure.
        self._since: Optional[float] = None
        self._failed = 0
        self._pause = FIRST_PAUSE

    def progress(self) -> None:
        """Restarts the time for attempts with the next failure."""
        self._since, self._failed, self._pause = None, 0, FIRST_PAUSE

    def wait(self, refusal: Refused, stopped: Optional[threading.Event] = None) -> None:
        """Waits until the next attempt; raises the refusal if it is final or the time is up."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        self._failed += 1
        is_silent = refusal.reason == NO_DAEMON
        if not is_silent:
            self._caller.answered()
        # Half of the pause is random, so that clients refused together do not retry together.
        pause = self._pause * (0.5 + random.random() / 2)
        if not is_passing(refusal):
            raise refusal
        patience = self._caller.patience()
        if self._retry_for is not None:
            patience = min(patience, self._retry_for)
        if now + pause > self._since + patience:
            if is_silent:
                said = _meet.silent(self._caller.target, self._failed, now - self._since)
                raise refused(refusal.code, refusal.reason, said, refusal.metadata) from None
            raise refusal
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        if stopped is None:
            time.sleep(pause)
        else:
            stopped.wait(pause)
        if is_silent:
            self._caller.choose_again()


class _Link:
    """A channel to a target."""

    def __init__(self, target: str, channel: Any) -> None:
        self.target = target
        self.channel = channel
        self._unary: Dict[str, Any] = {}

    def unary(self, name: str) -> Any:
        """The function for a unary call."""
        if name not in self._unary:
            self._unary[name] = self._begin(self.channel.unary_unary, name)
        return self._unary[name]

    def stream(self, name: str) -> Any:
        """The function for a call with a stream of responses."""
        return self._begin(self.channel.unary_stream, name)

    @staticmethod
    def _begin(kind: Any, name: str) -> Any:
        method = _wire.METHODS[name]
        return kind(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )


class Caller:
    """Calls over a channel, and over another one if the daemon listens elsewhere after a restart."""

    def __init__(
        self,
        target: str,
        channel_to: Callable[[str], Any],
        token: Optional[str],
        timeout: float,
        retry_for: float,
        *,
        again: Optional[Callable[[str], str]] = None,
        first: Optional[float] = None,
    ) -> None:
        self.timeout = timeout
        self.retry_for = retry_for
        self.metadata = [("authorization", f"Bearer {token}")] if token else []
        self._channel_to = channel_to
        #: Gives the target after a lost connection; None for a given target.
        self._again = again
        #: Instead of `retry_for` until a daemon has answered; None once it has.
        self._first = first
        self._lock = threading.Lock()
        self._link = _Link(target, channel_to(target))
        #: Links that other calls may still use.
        self._retired: List[_Link] = []

    @property
    def target(self) -> str:
        """Where calls go now."""
        return self._link.target

    def patience(self) -> float:
        """How long attempts are made, in seconds."""
        return self.retry_for if self._first is None else min(self._first, self.retry_for)

    def answered(self) -> None:
        """A daemon has answered: from now on a silent one is restarting."""
        self._first = None

    def choose_again(self) -> None:
        """Changes to the daemon's new socket if its old one is gone."""
        if self._again is None:
            return
        with self._lock:
            target = self._again(self.target)
            if target != self.target:
                self._retired.append(self._link)
                self._link = _Link(target, self._channel_to(target))

    def call(self, name: str, request: Dict[str, Any], retry_for: Optional[float] = None) -> Any:
        """A unary call, with retries: for as many seconds as the client's, or fewer."""
        message = _wire.METHODS[name].request(**request)
        attempts = Attempts(self, retry_for)
        while True:
            try:
                answer = self._link.unary(name)(message, metadata=self.metadata, timeout=self.timeout)
                self.answered()
                return answer
            except grpc.RpcError as error:
                refusal = refusal_of(error)
            options = request.get("options")
            if options:
                refusal.metadata["request_id"] = options["request_id"]
            attempts.wait(refusal)

    def stream(self, name: str, request: Dict[str, Any]) -> Any:
        """Begins a call with a stream of responses and no deadline."""
        return self._link.stream(name)(_wire.METHODS[name].request(**request), metadata=self.metadata)

    def close(self) -> None:
        """Closes the connection. Calls under way fail."""
        with self._lock:
            for link in (*self._retired, self._link):
                link.channel.close()
