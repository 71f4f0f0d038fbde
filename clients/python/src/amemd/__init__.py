"""amemd: a memory for AI agents, from Python.

    from amemd import connect

    with connect(agent="planner") as client:
        brain = client.brain("work", create=True)
        saw = brain.add_fact("the build fails when protoc is missing")
        brain.add_decision("protoc is no longer needed to build", caused_by=[saw])
        for hit in brain.search("what does the build need"):
            print(hit.score, hit.event.text)

`connect` starts the daemon if none answers, and calls it; it needs grpcio. `amemd.reader.Reader` reads a brain's file
directly, live, with the standard library alone: grpcio is imported on the first use of the client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    AlreadyExists,
    AmemError,
    ConditionFailed,
    DamagedFile,
    ModelError,
    NewerFile,
    MustDrop,
    NotFound,
    Refused,
    Superseded,
    Unavailable,
)
from .types import (
    Change,
    Commit,
    Conflict,
    Context,
    ContextItem,
    Edge,
    Event,
    Hit,
    If,
    New,
    Resolved,
    Row,
    Rows,
    Session,
    SessionSpan,
    Step,
    TimelineEntry,
    Walk,
    Where,
)

if TYPE_CHECKING:
    from . import pipe
    from ._answer import Answer, FormedMemory, GivenMemory, Relation, Turn
    from ._call import new_request_id
    from .agent import MemoryAgent
    from .brain import Brain
    from .client import Client, Tls, connect, default_target
    from .models import OpenAIModel
    from .reader import Reader

__all__ = [
    "AlreadyExists",
    "AmemError",
    "Answer",
    "Brain",
    "Change",
    "Client",
    "Commit",
    "ConditionFailed",
    "Conflict",
    "Context",
    "ContextItem",
    "DamagedFile",
    "NewerFile",
    "Edge",
    "Erased",
    "Event",
    "FileHolder",
    "FormedMemory",
    "GivenMemory",
    "Hit",
    "If",
    "MemoryAgent",
    "ModelError",
    "MustDrop",
    "New",
    "NotFound",
    "OpenAIModel",
    "Reader",
    "Refused",
    "Relation",
    "Resolved",
    "Row",
    "Rows",
    "Session",
    "SessionSpan",
    "Step",
    "Superseded",
    "TimelineEntry",
    "Tls",
    "Turn",
    "Unavailable",
    "Walk",
    "Where",
    "connect",
    "default_target",
    "new_request_id",
    "pipe",
]

_LATER = {
    "Answer": "_answer",
    "FormedMemory": "_answer",
    "GivenMemory": "_answer",
    "Relation": "_answer",
    "Turn": "_answer",
    "MemoryAgent": "agent",
    "OpenAIModel": "models",
    "Brain": "brain",
    "Client": "client",
    "Tls": "client",
    "connect": "client",
    "default_target": "client",
    "Reader": "reader",
    "new_request_id": "_call",
    "pipe": "pipe",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'amemd' has no attribute {name!r}")
    module = import_module(f".{_LATER[name]}", __name__)
    return module if name == _LATER[name] else getattr(module, name)
