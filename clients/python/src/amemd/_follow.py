"""Following the commits of a brain, whatever becomes of the connection.

Promises: every commit comes once, whole and in order; after a lost connection or a restart of the daemon it goes on
behind the last whole commit.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Dict, Iterator, List, Optional, Type

import grpc

from . import _convert
from ._call import Attempts, Caller, told
from .errors import Refused, refused
from .types import Commit


class Commits(Iterator[Commit]):
    """The commits of a brain, one after the other. Iteration waits for the next; `close`, from any thread, ends it."""

    def __init__(self, caller: Caller, request: Dict[str, Any]) -> None:
        self._caller = caller
        #: How the next subscription begins.
        self._request = request
        self._stream: Any = None
        #: Messages of a commit of which more is to come.
        self._parts: List[Any] = []
        self._closed = threading.Event()
        self._attempts = Attempts(caller.retry_for)

    @property
    def after_lsn(self) -> Optional[int]:
        """The LSN up to which all was given: where to go on another time. None until the daemon has said it."""
        return self._request.get("after_lsn")

    @property
    def instance(self) -> str:
        """The instance of that LSN."""
        return str(self._request.get("instance", ""))

    def begin(self) -> "Commits":
        """Waits until the daemon has said where the subscription begins: no commit after this is missed."""
        while self.after_lsn is None:
            commit = self._whole(self._message())
            assert commit is None, "the first message says only where the stream begins"
        return self

    def __iter__(self) -> "Commits":
        return self

    def __next__(self) -> Commit:
        # An error ends nothing: who asks again has all attempts again.
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
        """The next message, of a new subscription if there is none."""
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
                refusal = told(error)
            self._stream, self._parts = None, []
            if self._closed.is_set():
                raise _Closed
            # What was not read in time comes again.
            if refusal.reason != "SLOW_SUBSCRIBER":
                self._attempts.wait(refusal, self._closed)

    def _whole(self, message: Any) -> Optional[Commit]:
        """The commit that is whole with a message, if one is."""
        self._parts.append(message)
        if message.more:
            return None
        parts, self._parts = self._parts, []
        self._request["after_lsn"] = message.moment.lsn
        self._request["instance"] = message.moment.instance
        is_commit = message.kind != 0 or any(part.changes for part in parts)
        return _convert.commit(parts) if is_commit else None

    def close(self) -> None:
        """Ends it."""
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
    """It was closed meanwhile."""
