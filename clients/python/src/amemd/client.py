"""A connection to a daemon: its target, its credentials, and its brains."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import socket
import stat
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type

import grpc

from ._call import Caller
from .brain import Brain
from .errors import AlreadyExists

SYSTEM_SOCKET = "/run/amemd/amemd.sock"
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


def _path(variables: Mapping[str, str], name: str) -> Optional[str]:
    """The absolute path in a variable; XDG ignores relative ones."""
    path = variables.get(name, "")
    return path if os.path.isabs(path) else None


def usual_sockets(variables: Mapping[str, str]) -> List[str]:
    """The default sockets of a daemon: the user's, then the system's. The same list as amemctl's."""
    run, home = _path(variables, "XDG_RUNTIME_DIR"), _path(variables, "HOME")
    data = _path(variables, "XDG_DATA_HOME") or (f"{home}/.local/share" if home else None)
    found = [f"{run}/amemd/amemd.sock"] if run else []
    if data:
        found.append(f"{data}/amem/run/amemd.sock")
    if "XDG_RUNTIME_DIR" not in variables:
        found.append(f"/run/user/{os.getuid()}/amemd/amemd.sock")
    return [*found, SYSTEM_SOCKET]


def default_target(variables: Optional[Mapping[str, str]] = None) -> str:
    """The same daemon as amemctl's: AMEMD_SOCKET or AMEMD_ADDRESS, else the first default socket that accepts a
    connection, else the first default socket."""
    variables = os.environ if variables is None else variables
    named, address = variables.get("AMEMD_SOCKET"), variables.get("AMEMD_ADDRESS")
    if named and address:
        raise ValueError("AMEMD_SOCKET and AMEMD_ADDRESS are both set: unset one of them")
    if named or address:
        return f"unix:{named}" if named else str(address)
    sockets = usual_sockets(variables)
    for path in sockets:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            try:
                asked.connect(path)
            except OSError:
                continue
            return f"unix:{path}"
    return f"unix:{sockets[0]}"


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
) -> "Client":
    """A client of the daemon at a target: `unix:/path`, a path, or `host:port`; default: the same daemon as amemctl's.

    `agent` is the name that commits record. `timeout` is that of one attempt, in seconds; temporary failures, such as a
    restart of the daemon, are retried for `retry_for` seconds. This sends nothing yet, so it fails only if an argument
    is unusable: a token goes to another machine by TLS or not at all.
    """
    if target is None:
        target = default_target()
        file = os.environ.get("AMEMD_TOKEN_FILE")
        if token is None and file and not target.startswith("unix:"):
            token = _secret(file)
    if target.startswith("/"):
        target = f"unix:{target}"
    return Client(target, token.strip() if token else None, agent, tls, timeout, retry_for)


class Client:
    """A connection to a daemon. Thread-safe."""

    def __init__(
        self,
        target: str,
        token: Optional[str],
        agent: Optional[str],
        tls: Optional[Tls],
        timeout: float,
        retry_for: float,
    ) -> None:
        if token and tls is None and not _is_here(target):
            raise ValueError(
                f"{target} is another machine, and a token goes there by TLS only: "
                "pass tls=Tls(authority=...), or use a tunnel to this machine"
            )
        self.target = target
        self.agent = agent or os.environ.get("AMEM_AGENT") or "python"
        options: List[Tuple[str, Any]] = list(_CHANNEL)
        if tls is None:
            channel = grpc.insecure_channel(target, options)
        else:
            if tls.name:
                options.append(("grpc.ssl_target_name_override", tls.name))
            trusted = grpc.ssl_channel_credentials(tls.authority, tls.key, tls.certificate)
            channel = grpc.secure_channel(target, trusted, options)
        self._caller = Caller(channel, token, timeout, retry_for)

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
        """The daemon's version; Unavailable if no daemon answers."""
        return str(self._caller.call("GetStatus", {}).version)

    def close(self) -> None:
        """Closes the connection. Calls under way fail."""
        self._caller.channel.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()


__all__ = ["Client", "Tls", "connect", "default_target", "usual_sockets"]
