"""A connection to a daemon: its target, its credentials, and its brains.

Not here: which sockets are tried (`_place`), and the start of a daemon (`_meet`, `_start`).
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import stat
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Type

import grpc

from . import _meet
from ._call import Caller
from ._place import Places
from .brain import Brain
from .errors import AlreadyExists

#: Seconds for the first answer by TLS, where a wrong certificate looks like a daemon that restarts.
_FIRST_PATIENCE = 5.0
#: Reconnects 0.1 to 0.5 seconds after a failure, to find a restarted daemon soon.
_CHANNEL = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.max_receive_message_length", 16 << 20),
    ("grpc.enable_http_proxy", 0),
]
#: The host of an address, after gRPC's optional name of a resolver.
_HOST = re.compile(r"(?:dns:(?:///)?|ipv4:|ipv6:)?(?:\[([0-9a-f:.]+)\]|([^\[\]:/,]+))(?::[0-9]+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Tls:
    """The authority that a connection trusts, and the client's own certificate. All fields are PEM."""

    #: The authority of the daemon's certificate.
    authority: bytes
    #: The name in the daemon's certificate; default: the name of the target.
    name: Optional[str] = None
    #: The client's certificate and its key, if the daemon requires them.
    certificate: Optional[bytes] = None
    #: Not in `repr`, which ends up in logs and failure reports.
    key: Optional[bytes] = field(default=None, repr=False)


def default_target(variables: Optional[Mapping[str, str]] = None) -> str:
    """AMEMD_SOCKET or AMEMD_ADDRESS, else the first usual socket that accepts a connection, else the first one. Starts
    no daemon."""
    variables = os.environ if variables is None else variables
    named = _named(variables)
    if named:
        return named
    sockets = usual_sockets(variables)
    return f"unix:{_meet.look(sockets)[0] or sockets[0]}"


def usual_sockets(variables: Mapping[str, str]) -> List[str]:
    """The sockets that `connect` tries if none is given, in order."""
    return Places(variables).sockets()


def _named(variables: Mapping[str, str]) -> Optional[str]:
    """The target that the variables name."""
    named, address = variables.get("AMEMD_SOCKET"), variables.get("AMEMD_ADDRESS")
    if named and address:
        raise ValueError("AMEMD_SOCKET and AMEMD_ADDRESS are both set: unset one of them")
    return f"unix:{named}" if named else address or None


def _is_here(target: str) -> bool:
    """True if a target is this machine, without a name lookup."""
    if target.startswith("unix:"):
        return True
    named = _HOST.fullmatch(target)
    if not named:
        return False
    host = named[1] or named[2]
    try:
        address = ipaddress.ip_address(host)
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _secret(path: str) -> str:
    """The content of a secret file. PermissionError if it is the user's own and others may use it; another user's file
    is not checked."""
    with open(path, encoding="utf-8") as file:
        about = os.fstat(file.fileno())
        mode = stat.S_IMODE(about.st_mode)
        if stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and mode & 0o077:
            what = f"{path} is a secret, and others may use it (its mode is {mode:04o})"
            raise PermissionError(f"{what}: run chmod 600 {path}")
        return file.read()


def connect(
    target: Optional[str] = None,
    token: Optional[str] = None,
    agent: Optional[str] = None,
    *,
    tls: Optional[Tls] = None,
    timeout: float = 30.0,
    retry_for: float = 30.0,
    autostart: bool = True,
) -> "Client":
    """A client of the daemon at a target: `unix:/path`, a path, or `host:port`; default: AMEMD_SOCKET or AMEMD_ADDRESS,
    else the user's daemon, else the machine's.

    Starts amemd if no daemon answers, unless the target is an address or another socket than the default
    one, `autostart` is False, or AMEM_NO_AUTOSTART is set. Raises Unavailable within two seconds if none can be had, and ValueError if an argument is unusable: a token
    goes to another machine by TLS or not at all.

    `agent` is the name that commits record. `timeout` is that of one attempt, in seconds. Later failures that are
    temporary, such as a restart of the daemon, are retried for `retry_for` seconds; they start no daemon.
    """
    given = target
    if given is None:
        given = _named(os.environ)
        file = os.environ.get("AMEMD_TOKEN_FILE")
        if token is None and file and given and not given.startswith("unix:"):
            token = _secret(file)
    token = token.strip() if token else None
    if given is not None and not given.startswith(("/", "unix:")):
        _check_token(given, token, tls)
        _meet.address(given)
        return Client(given, token, agent, tls, timeout, retry_for)
    socket = _meet.path_of(f"unix:{given}" if given.startswith("/") else given) if given else None
    found = f"unix:{_meet.meet(socket, autostart, os.environ)}"
    again = None if socket else _meet.chosen_again(lambda: usual_sockets(os.environ))
    return Client(found, token, agent, tls, timeout, retry_for, again)


def _check_token(target: str, token: Optional[str], tls: Optional[Tls]) -> None:
    if token and tls is None and not _is_here(target):
        raise ValueError(
            f"{target} is another machine, and a token goes there by TLS only: "
            "pass tls=Tls(authority=...), or use a tunnel to this machine"
        )


def _channels(tls: Optional[Tls]) -> Callable[[str], Any]:
    """Makes channels to targets."""
    if tls is None:
        return lambda target: grpc.insecure_channel(target, list(_CHANNEL))
    options: List[Tuple[str, Any]] = list(_CHANNEL)
    if tls.name:
        options.append(("grpc.ssl_target_name_override", tls.name))
    trusted = grpc.ssl_channel_credentials(tls.authority, tls.key, tls.certificate)
    return lambda target: grpc.secure_channel(target, trusted, options)


class Client:
    """A connection to a daemon. Thread-safe. Use `connect`, which also finds the target."""

    def __init__(
        self,
        target: str,
        token: Optional[str],
        agent: Optional[str],
        tls: Optional[Tls],
        timeout: float,
        retry_for: float,
        again: Optional[Callable[[str], str]] = None,
    ) -> None:
        _check_token(target, token, tls)
        self.agent = agent or os.environ.get("AMEM_AGENT") or "python"
        first = None if tls is None and _meet.can_ask(target) else _FIRST_PATIENCE
        self._caller = Caller(target, _channels(tls), token, timeout, retry_for, again=again, first=first)

    @property
    def target(self) -> str:
        """Where the daemon is: `unix:/path`, or its address."""
        return self._caller.target

    def brain(
        self,
        name: str,
        create: bool = False,
        *,
        dimension: Optional[int] = None,
        model: Optional[str] = None,
        settings: Optional[Mapping[str, Any]] = None,
    ) -> Brain:
        """A brain by its name; NotFound if it does not exist. With `create`, a missing brain is created: with vectors
        of the built-in embedder, or with `dimension` and `model` for a model's vectors; dimension 0 is for no
        vectors."""
        if create:
            request: Dict[str, Any] = {"brain": name, "settings_json": json.dumps(settings) if settings else ""}
            if dimension is not None:
                request["vectors"] = {"dimension": dimension, **({"model": model} if model else {})}
            elif model:
                raise ValueError("a model needs the dimension of its vectors")
            try:
                self._caller.call("CreateBrain", request)
            except AlreadyExists:
                pass
        return Brain(self._caller, name, self.agent, self._caller.call("OpenBrain", {"brain": name}))

    def brains(self) -> List[str]:
        """The names of all brains, including those that cannot be opened."""
        names: List[str] = []
        token = ""
        while True:
            page = self._caller.call("ListBrains", {"page_token": token})
            names.extend(one.brain for one in page.brains)
            token = page.next_page_token
            if not token:
                return names

    def remove(self, name: str, instance: str) -> None:
        """Removes a brain for good. `instance` guards against removing another brain of that name."""
        self._caller.call("RemoveBrain", {"brain": name, "instance": instance})

    def version(self) -> str:
        """The daemon's version."""
        return str(self._caller.call("GetStatus", {}).version)

    def close(self) -> None:
        """Closes the connection. Calls under way fail."""
        self._caller.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


__all__ = ["Client", "Tls", "connect", "default_target", "usual_sockets"]
