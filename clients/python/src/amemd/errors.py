"""Exceptions: one class for each way in which a caller can react."""

from __future__ import annotations

from typing import Dict, Optional

#: The reason if no daemon answers; no daemon sends it.
NO_DAEMON = "NO_DAEMON"


class AmemError(Exception):
    """The base class of this package's errors."""


class Refused(AmemError):
    """The daemon refused a call, or was unreachable.

    `code` is gRPC's, such as NOT_FOUND; `reason` names the case for programs, such as UNKNOWN_EVENT; `message` says
    what is wrong and what to do; `metadata` has the details for programs.
    """

    def __init__(self, code: str, reason: str, message: str, metadata: Optional[Dict[str, str]] = None) -> None:
        super().__init__(f"{code}{f' ({reason})' if reason else ''}: {message}")
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata = metadata or {}


class NotFound(Refused):
    """NOT_FOUND: a brain, an event, a session or an edge does not exist."""


class AlreadyExists(Refused):
    """ALREADY_EXISTS: a brain's name or a request id is in use."""


class ConditionFailed(Refused):
    """ABORTED: a precondition of the write does not hold any more. Read again."""


class Unavailable(Refused):
    """UNAVAILABLE, for longer than the client retries; with the reason NO_DAEMON, no daemon answers. The outcome of a
    write is unknown: retry it with the same request id, which is in `metadata["request_id"]`."""


_BY_CODE = {
    "NOT_FOUND": NotFound,
    "ALREADY_EXISTS": AlreadyExists,
    "ABORTED": ConditionFailed,
    "UNAVAILABLE": Unavailable,
}


def refused(code: str, reason: str, message: str, metadata: Optional[Dict[str, str]] = None) -> Refused:
    """The exception for a code."""
    return _BY_CODE.get(code, Refused)(code, reason, message, metadata)


class ModelError(AmemError):
    """A model gave no answer, or not all of it. `status` is that of HTTP, if a server refused the request."""

    def __init__(self, message: str, status: Optional[int] = None) -> None:
        super().__init__(message)
        self.status = status


class DamagedFile(AmemError):
    """A file is damaged: `part` names the section, `position` the byte, `why` the reason."""

    def __init__(self, part: str, position: int, why: str) -> None:
        super().__init__(f"{part} at byte {position}: {why}")
        self.part = part
        self.position = position
        self.why = why


class NewerFile(DamagedFile):
    """A file is whole, and a newer version of amemd wrote something into it that this package must not pass over. It is
    a `DamagedFile` for handlers of files that cannot be read."""

    def __init__(self, part: str, position: int, what: str) -> None:
        super().__init__(part, position, f"{what} is of a newer version of amemd: update this package; nothing is damaged")


class MustDrop(AmemError):
    """Something was erased from this brain, and the file that replaced this one is not at its path. The old file must
    not be read any more; open the brain again."""


class Superseded(AmemError):
    """A file was replaced, and its successor cannot be read, so newer commits are missing here. `refresh` continues
    once the successor is at the path; otherwise open the brain at its new path.

    `path` is where the brain was opened, `by` the generation that replaced it; `why` says what is at the path instead.
    """

    def __init__(self, path: str, by: int, why: str) -> None:
        super().__init__(f"{path} was replaced by generation {by}, which cannot be read there: {why}")
        self.path = path
        self.by = by
        self.why = why
