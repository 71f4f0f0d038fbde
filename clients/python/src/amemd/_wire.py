"""The messages of amem.v1, from the descriptors in the package.

Promises: they live in their own descriptor pool, so they do not conflict with any version of the same protos in another
package. Not here: what a call means (`brain`), when it is retried (`_call`).
"""

from __future__ import annotations

from importlib import resources
from typing import Any, Dict, Iterator, Tuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SERVICES = ("BrainService", "MemoryService", "QueryService", "AdminService", "ItemService", "FactService")


class Method:
    """Path and messages of one RPC."""

    def __init__(self, service: str, descriptor: Any) -> None:
        self.path = f"/amem.v1.{service}/{descriptor.name}"
        self.request = message_factory.GetMessageClass(descriptor.input_type)
        self.response = message_factory.GetMessageClass(descriptor.output_type)


def _load() -> Tuple[Any, Dict[str, Method]]:
    try:
        packed = resources.files("amemd").joinpath("amem.v1.binpb").read_bytes()
    except FileNotFoundError:
        raise ImportError(
            "amemd is not built, its protos are missing: install it with `pip install clients/python`"
        ) from None
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(packed).file:
        pool.Add(file)
    methods = {}
    for service in SERVICES:
        for descriptor in pool.FindServiceByName(f"amem.v1.{service}").methods:
            methods[descriptor.name] = Method(service, descriptor)
    return pool, methods


POOL, METHODS = _load()


def enum_name(enum: str, value: int) -> str:
    """The short name of an enum's value: COMMIT_KIND_SET_VECTOR is set-vector."""
    found = POOL.FindEnumTypeByName(f"amem.v1.{enum}").values_by_number.get(value)
    if found is None:
        return f"{enum}-{value}"
    front = "".join(f"_{letter}" if letter.isupper() else letter.upper() for letter in enum).lstrip("_")
    return str(found.name)[len(front) + 1 :].lower().replace("_", "-")


def error_info(status: bytes) -> Tuple[str, Dict[str, str]]:
    """Reason and metadata of the google.rpc.ErrorInfo in a google.rpc.Status, if it has one.

    Decodes the two messages by hand: another package in the process may have any version of them.
    """
    for number, detail in _fields(status):
        if number != 3 or not isinstance(detail, bytes):
            continue
        parts = dict(_fields(detail))
        url, value = parts.get(1, b""), parts.get(2, b"")
        if not (isinstance(url, bytes) and isinstance(value, bytes) and url.endswith(b"/google.rpc.ErrorInfo")):
            continue
        reason, metadata = "", {}
        for field, entry_bytes in _fields(value):
            if field == 1 and isinstance(entry_bytes, bytes):
                reason = entry_bytes.decode("utf-8", "replace")
            elif field == 3 and isinstance(entry_bytes, bytes):
                entry = dict(_fields(entry_bytes))
                key, text = (entry.get(n, b"") for n in (1, 2))
                if isinstance(key, bytes) and isinstance(text, bytes):
                    metadata[key.decode("utf-8", "replace")] = text.decode("utf-8", "replace")
        return reason, metadata
    return "", {}


def _fields(message: bytes) -> Iterator[Tuple[int, Any]]:
    """Number and value of each field of an encoded message, up to a truncated one."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while at < len(message) and shift < 64:
            byte = message[at]
            at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                break
        return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(kind)
        if size is None:
            if kind != 2:
                return
            size = varint()
        yield key >> 3, message[at : at + size]
        at += size
