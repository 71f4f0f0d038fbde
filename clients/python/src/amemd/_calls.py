"""The base of every call to a brain: its name, the agent, and the newest LSN seen."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, Optional

from ._call import Caller, new_request_id
from ._convert import given
from .types import If

#: Rows per page of a listing.
PAGE = 1000


class Calls:
    """A brain of a daemon, called by the names of the RPCs."""

    def __init__(self, caller: Caller, name: str, agent: str, opened: Any) -> None:
        self._caller = caller
        self.name = name
        self.agent = agent
        #: The newest commit that an answer to this object named.
        self.lsn: int = opened.moment.lsn
        #: The instance that answered last: a brain that was removed and created again under its name is another
        #: instance.
        self.instance: str = opened.moment.instance
        #: The file, on the daemon's machine.
        self.file: str = opened.path
        #: True if the caller may read the file itself, as `amemd.reader.Reader` does.
        self.direct_read: bool = opened.direct_read
        self.dimension: int = opened.info.dimension

    def _saw(self, state: Any) -> None:
        is_same = state.instance == self.instance
        self.instance, self.lsn = state.instance, max(self.lsn, state.lsn) if is_same else state.lsn

    def _ask(self, name: str, **fields: Any) -> Any:
        answer = self._caller.call(name, {"brain": self.name, **given(**fields)})
        self._saw(answer.moment)
        return answer

    def _write(self, name: str, only_if: Optional[If], request_id: Optional[str], **fields: Any) -> Any:
        options: Dict[str, Any] = {"agent": self.agent, "request_id": request_id or new_request_id()}
        if only_if is not None:
            options.update(given(expected_lsn=only_if.lsn))
            if only_if.head is not None:
                options["expected_head"] = {"event_id": only_if.head[0], "head_id": only_if.head[1]}
        answer = self._caller.call(name, {"brain": self.name, "options": options, **given(**fields)})
        self._saw(answer.commit)
        return answer

    def _pages(self, name: str, limit: Optional[int], rows: Callable[[Any], Iterable[Any]], **fields: Any) -> List[Any]:
        found: List[Any] = []
        token = ""
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(found))
            page = self._ask(name, page_size=size, page_token=token, **fields)
            found.extend(rows(page))
            token = page.next_page_token
            if not token:
                break
        return found
