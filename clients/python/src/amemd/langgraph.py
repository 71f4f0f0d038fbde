"""LangGraph's store in a brain: a `BaseStore` for graphs, over ItemService.

    from amemd import connect
    from amemd.langgraph import AmemStore

    store = AmemStore(connect(agent="planner"))
    store.put(("users", "ada"), "home", {"city": "Porto"})

Needs langgraph (its package langgraph-checkpoint). The daemon embeds and ranks: there is nothing to configure but which
fields are searched. Values are JSON; a value that is none is refused with TypeError or ValueError before it is sent.

Promises: results are in the order of their operations; the reads of a batch see what was there before its changes; of
several changes of one item the last one counts. A batch of more than 1,000 operations, or of more than 3 MiB, is not one
commit. Not here: what items mean (the daemon), how calls are retried (`_call`).
"""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
)

from ._call import new_request_id
from .client import Client
from .errors import Refused
from .types import to_datetime

#: Operations of a call.
_OPS = 1000
#: Bytes of a call; the daemon takes 4 MiB.
_BYTES = 3 << 20
#: Items or namespaces of an answer.
_ROWS = 1000
#: Items that may be left out before the first.
_OFFSET = 1_000_000

Namespace = Tuple[str, ...]


class AmemStore(BaseStore):
    """A store of LangGraph in one brain. Thread-safe.

    `fields` are the paths of values that are searched if a put names none, such as `["text", "notes[*].title"]`; default:
    all texts in them. `ttl` is LangGraph's: `default_ttl` in minutes, `refresh_on_read`. Expired items are never shown.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client,
        brain: str = "memories",
        *,
        fields: Optional[Sequence[str]] = None,
        ttl: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__()
        self._caller = client._caller
        self._agent = client.agent
        self.brain = brain
        self._fields = list(fields) if fields is not None else None
        self.ttl_config = dict(ttl) if ttl is not None else None

    def batch(self, ops: Iterable[Any]) -> List[Any]:
        """Executes operations; their results in order."""
        ops = list(ops)
        for op in ops:
            _check(op)
        results: List[Any] = [None] * len(ops)
        reads = [(at, op) for at, op in enumerate(ops) if not isinstance(op, PutOp)]
        last: Dict[Tuple[Namespace, str], int] = {}
        for at, op in enumerate(ops):
            if isinstance(op, PutOp):
                last[(tuple(op.namespace), op.key)] = at
        puts = [self._put(ops[at]) for at in sorted(last.values())]
        if self._at_once(reads, puts, results):
            return results
        for at, op in reads:
            results[at] = self._read(op)
        for part in _parts(puts):
            self._batch([{"put": put} for put in part])
        return results

    async def abatch(self, ops: Iterable[Any]) -> List[Any]:
        """The same, on a thread of the event loop's executor."""
        ops = list(ops)
        return await asyncio.get_running_loop().run_in_executor(None, self.batch, ops)

    def _at_once(self, reads: List[Tuple[int, Any]], puts: List[Dict[str, Any]], results: List[Any]) -> bool:
        """Executes everything by one call, if one has room for it; True if it is done."""
        if not puts and len(reads) < 2:
            return not reads
        is_small = len(reads) + len(puts) <= _OPS and sum(map(_size, puts)) <= _BYTES
        if not is_small or not all(_fits(op) for _, op in reads):
            return False
        asked = [_op(op) for _, op in reads] + [{"put": put} for put in puts]
        try:
            answers = self._batch(asked)
        except ValueError as error:
            cause = error.__cause__
            # What the reads find has no room in one answer, and nothing was changed.
            if isinstance(cause, Refused) and cause.reason == "ANSWER_SIZE":
                return False
            raise
        except Refused as refusal:
            # A batch is for callers that may write; one that only reads is not.
            if refusal.code == "PERMISSION_DENIED" and not puts:
                return False
            raise
        for (at, op), answer in zip(reads, answers):
            if isinstance(op, GetOp):
                results[at] = _item(answer.item) if answer.HasField("item") else None
            elif isinstance(op, SearchOp):
                results[at] = [_hit(hit) for hit in answer.hits]
            else:
                results[at] = [tuple(one.labels) for one in answer.namespaces]
        return True

    def _read(self, op: Any) -> Any:
        if isinstance(op, GetOp):
            answer = self._call("GetItem", get=_get(op))
            return _item(answer.item) if answer.HasField("item") else None
        if isinstance(op, SearchOp):
            return self._search(op)
        return self._namespaces(op)

    def _search(self, op: Any) -> List[Any]:
        found: List[Any] = []
        while len(found) < op.limit:
            size = min(op.limit - len(found), _ROWS)
            asked = {**_search(op), "limit": size, "offset": op.offset + len(found)}
            answer = self._call("SearchItems", search=asked)
            found.extend(_hit(hit) for hit in answer.hits)
            if not answer.left_off and len(answer.hits) < size:
                break
        return found

    def _namespaces(self, op: Any) -> List[Namespace]:
        prefixes, suffixes = _conditions(op)
        if len(prefixes) > 1 or len(suffixes) > 1:
            return self._narrowed(op, prefixes, suffixes)
        found: List[Namespace] = []
        asked = _list(op)
        while len(found) < op.limit:
            answer = self._call("ListItemNamespaces", **{**asked, "page_size": min(op.limit - len(found), _ROWS)})
            found.extend(tuple(one.labels) for one in answer.namespaces)
            if not answer.next_page_token:
                break
            asked.update(page_token=answer.next_page_token, skip=0)
        return found

    def _narrowed(self, op: Any, prefixes: List[Namespace], suffixes: List[Namespace]) -> List[Namespace]:
        """Namespaces that match several prefixes or suffixes: the daemon takes one of each."""
        wide = ListNamespacesOp(match_conditions=(), max_depth=None, limit=_OFFSET, offset=0)
        matching = {
            name[: op.max_depth]
            for name in self._namespaces(wide)
            if all(_matches(name, one) for one in prefixes)
            and all(_matches(name[::-1], one[::-1]) for one in suffixes)
        }
        return sorted(matching)[op.offset : op.offset + op.limit]

    def _put(self, op: Any) -> Dict[str, Any]:
        put: Dict[str, Any] = {"namespace": list(op.namespace), "key": op.key}
        if op.value is None:
            return put
        put["value_json"] = json.dumps(dict(op.value), ensure_ascii=False, allow_nan=False)
        paths = self._fields if op.index is None else op.index
        if op.index is False or paths == []:
            put["index"] = {"none": True}
        elif paths is not None:
            put["index"] = {"paths": list(paths)}
        if op.ttl is not None:
            micros = round(op.ttl * 60_000_000)
            put["ttl"] = {"seconds": micros // 1_000_000, "nanos": micros % 1_000_000 * 1000}
        return put

    def _batch(self, asked: List[Dict[str, Any]]) -> Any:
        options = {"agent": self._agent, "request_id": new_request_id()}
        return self._call("BatchItems", ops=asked, options=options).results

    def _call(self, name: str, **fields: Any) -> Any:
        try:
            return self._caller.call(name, {"brain": self.brain, **fields})
        except Refused as refusal:
            if refusal.code == "INVALID_ARGUMENT":
                raise ValueError(refusal.message) from refusal
            raise


def _check(op: Any) -> None:
    """Refuses what LangGraph's stores refuse."""
    if isinstance(op, (GetOp, PutOp)):
        names = [op.namespace]
    elif isinstance(op, SearchOp):
        names = [op.namespace_prefix]
    elif isinstance(op, ListNamespacesOp):
        names = [one.path for one in op.match_conditions or ()]
        for one in op.match_conditions or ():
            if one.match_type not in ("prefix", "suffix"):
                raise ValueError(f"the match type {one.match_type!r} is neither 'prefix' nor 'suffix'")
    else:
        raise ValueError(f"{type(op).__name__} is no operation of a store")
    for name in names:
        for label in name:
            if not isinstance(label, str) or not label or "." in label or "\0" in label:
                raise InvalidNamespaceError(
                    f"the label {label!r} of {name} is no text, or empty, or has a period or a NUL"
                )
    if isinstance(op, (SearchOp, ListNamespacesOp)) and (op.limit < 0 or op.offset < 0):
        raise ValueError(f"limit {op.limit} and offset {op.offset} must not be negative")


def _fits(op: Any) -> bool:
    """True if one answer may have all that the operation asks for."""
    if isinstance(op, GetOp):
        return True
    if isinstance(op, ListNamespacesOp) and any(len(kind) > 1 for kind in _conditions(op)):
        return False
    return bool(0 < op.limit <= _ROWS and op.offset <= _OFFSET)


def _op(op: Any) -> Dict[str, Any]:
    if isinstance(op, GetOp):
        return {"get": _get(op)}
    if isinstance(op, SearchOp):
        return {"search": {**_search(op), "limit": op.limit, "offset": op.offset}}
    return {"list": {**_list(op), "limit": op.limit}}


def _get(op: Any) -> Dict[str, Any]:
    return {"namespace": list(op.namespace), "key": op.key, "refresh_ttl": op.refresh_ttl}


def _search(op: Any) -> Dict[str, Any]:
    return {
        "namespace_prefix": list(op.namespace_prefix),
        "filter_json": json.dumps(op.filter, ensure_ascii=False, allow_nan=False) if op.filter else "",
        "query": op.query or "",
        "refresh_ttl": op.refresh_ttl,
    }


def _conditions(op: Any) -> Tuple[List[Namespace], List[Namespace]]:
    """The prefixes and the suffixes."""
    conditions = op.match_conditions or ()
    prefixes = [tuple(one.path) for one in conditions if one.match_type == "prefix"]
    return prefixes, [tuple(one.path) for one in conditions if one.match_type == "suffix"]


def _list(op: Any) -> Dict[str, Any]:
    prefixes, suffixes = _conditions(op)
    return {
        "prefix": list(prefixes[0]) if prefixes else [],
        "suffix": list(suffixes[0]) if suffixes else [],
        "depth_max": op.max_depth or 0,
        "skip": op.offset,
    }


def _matches(name: Namespace, first: Namespace) -> bool:
    return len(name) >= len(first) and all(wanted in ("*", label) for wanted, label in zip(first, name))


def _size(put: Dict[str, Any]) -> int:
    """About the bytes of a change."""
    labels = sum(len(label.encode()) for label in put["namespace"])
    return len(put.get("value_json", "").encode()) + len(put["key"].encode()) + labels + 64


def _parts(puts: List[Dict[str, Any]]) -> Iterable[List[Dict[str, Any]]]:
    """Changes, as many at a time as a call takes; one alone may be larger, and is refused by the daemon then."""
    part: List[Dict[str, Any]] = []
    size = 0
    for put in puts:
        if part and (len(part) == _OPS or size + _size(put) > _BYTES):
            yield part
            part, size = [], 0
        part.append(put)
        size += _size(put)
    if part:
        yield part


def _time(stamp: Any) -> datetime:
    return to_datetime(stamp.seconds * 1_000_000 + stamp.nanos // 1000)


def _fields(item: Any) -> Dict[str, Any]:
    return {
        "namespace": tuple(item.namespace),
        "key": item.key,
        "value": json.loads(item.value_json),
        "created_at": _time(item.created_at),
        "updated_at": _time(item.updated_at),
    }


def _item(item: Any) -> Any:
    return Item(**_fields(item))


def _hit(hit: Any) -> Any:
    return SearchItem(**_fields(hit.item), score=hit.score if hit.HasField("score") else None)


__all__ = ["AmemStore"]
