"""A subscription to the commits of a brain.

Promises: every commit arrives once, whole and in order; after a lost connection or a restart of the daemon the
subscription resumes behind the last whole commit.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Dict, Iterator, List, Optional, Type

import grpc

from . import _convert
from ._call import Attempts, Caller, refusal_of
from .errors import Refused, refused
from .types import Commit


class Commits(Iterator[Commit]):
    """The commits of a brain, in order. Iteration waits for the next; `close`, from any thread, ends it."""

    def __init__(self, caller: Caller, request: Dict[str, Any]) -> None:
        self._caller = caller
        #: The request of the next subscription.
        self._request = request
        self._stream: Any = None
        #: The messages of an incomplete commit.
        self._parts: List[Any] = []
        self._closed = threading.Event()
        self._attempts = Attempts(caller)

    @property
    def after_lsn(self) -> Optional[int]:
        """The LSN of the last whole commit, where a later subscription resumes. None until the daemon has sent it."""
        return self._request.get("after_lsn")

    @property
    def instance(self) -> str:
        """The instance of that LSN."""
        return str(self._request.get("instance", ""))

    def begin(self) -> "Commits":
        """Waits for the LSN at which the subscription begins: it misses no commit after this call."""
        while self.after_lsn is None:
            commit = self._whole(self._message())
            assert commit is None, "the first message says only where the stream begins"
        return self

    def __iter__(self) -> "Commits":
        return self

    def __next__(self) -> Commit:
        # After an error, the next call has all attempts again.
        self._attempts.progress()
        while not self._closed.is_set():
            try:
                message = self._message()
            except _Closed:
                break
            commit = self._whole(message)
            if commit is not None:
                return commit
        raise StopIteration

    def _message(self) -> Any:
        """The next message; subscribes first if there is no stream."""
        while True:
            if self._closed.is_set():
                raise _Closed
            try:
                if self._stream is None:
                    self._stream = self._caller.stream("Subscribe", self._request)
                message = next(self._stream, None)
                if message is not None:
                    self._attempts.progress()
                    return message
                refusal: Refused = refused("UNAVAILABLE", "CONNECTION_LOST", "the daemon ended the subscription")
            except grpc.RpcError as error:
                refusal = refusal_of(error)
            self._stream, self._parts = None, []
            if self._closed.is_set():
                raise _Closed
            # The next subscription delivers again what was not read in time.
            if refusal.reason != "SLOW_SUBSCRIBER":
                self._attempts.wait(refusal, self._closed)

    def _whole(self, message: Any) -> Optional[Commit]:
        """The commit that a message completes, if any."""
        self._parts.append(message)
        if message.more:
            return None
        parts, self._parts = self._parts, []
        self._request["after_lsn"] = message.moment.lsn
        self._request["instance"] = message.moment.instance
        is_commit = message.kind != 0 or any(part.changes for part in parts)
        return _convert.commit(parts) if is_commit else None

    def close(self) -> None:
        """Ends the subscription."""
        self._closed.set()
        stream = self._stream
        if stream is not None:
            stream.cancel()

    def __enter__(self) -> "Commits":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


class _Closed(Exception):
    """The subscription was closed meanwhile."""
