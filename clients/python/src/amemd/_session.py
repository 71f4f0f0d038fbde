"""A session for the time of a `with` block."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, Type

if TYPE_CHECKING:
    from ._writing import Writing


class OpenSession:
    """A session that opens when its block begins and closes when it ends.

    Its outcome is `outcome`; if that is empty and an exception ends the block, the exception.
    """

    def __init__(self, brain: "Writing", key: str, outcome: str) -> None:
        self._brain = brain
        self.key = key
        self.outcome = outcome
        #: The session's number, once it is open.
        self.id = 0

    def add(self, type: str, text: str, **how: Any) -> int:
        """Adds an event of this session; as `Brain.add`."""
        return self._brain.add(type, text, session=self.id, **how)

    def __enter__(self) -> "OpenSession":
        self.id = self._brain.open_session(self.key)
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        outcome = self.outcome
        if error is not None and not outcome:
            # The daemon accepts at most 4096 bytes.
            outcome = f"failed: {error!r}".encode()[:4096].decode("utf-8", "ignore")
        self._brain.close_session(self.id, outcome)
