"""The first contact with a daemon: finds the one that accepts a connection, or starts one.

Promises: without a daemon the caller gets an `Unavailable` (NO_DAEMON) within two seconds; it names what was tried, why
no daemon was started, and what to do.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import threading
import time
from typing import Callable, Dict, List, Mapping, Optional, Tuple

from . import _start
from ._place import SYSTEM_SOCKET, Places, is_foreign
from .errors import NO_DAEMON, Refused, refused

#: Seconds from the beginning to the error.
PATIENCE = 2.0
#: Seconds in which a daemon that restarts is found, if none is started.
GRACE = 0.5
#: Seconds between looks at the same sockets.
LOOK_EVERY = 0.02
#: The longest path of a socket, in bytes.
PATH_BYTES_MAX = 107
#: A host and a port, after gRPC's optional name of a resolver.
_ADDRESS = re.compile(r"(?:dns:(?:///)?|ipv4:|ipv6:)?(?:\[([^\[\]/]+)\]|([^\[\]:/,]+))(?::([0-9]+))?", re.ASCII)

_WORDS = {errno.ENOENT: "no such socket", errno.ECONNREFUSED: "connection refused", errno.EACCES: "permission denied"}

#: Sockets with the reason why each was not taken.
Tried = List[Tuple[str, str]]


def unavailable(message: str) -> Refused:
    """The error if no daemon answers."""
    return refused("UNAVAILABLE", NO_DAEMON, message)


def path_of(target: str) -> Optional[str]:
    """The path of a `unix:` target, absolute."""
    if not target.startswith("unix:"):
        return None
    return os.path.abspath(target[7:] if target.startswith("unix://") else target[5:])


def ask(path: str) -> Optional[str]:
    """Why a socket does not accept a connection; None if it does."""
    if len(os.fsencode(path)) > PATH_BYTES_MAX:
        return f"its path is longer than {PATH_BYTES_MAX} bytes"
    if is_foreign(path):
        return "its folder does not belong to this user"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        asked.setblocking(False)
        error = asked.connect_ex(path)
    # EAGAIN: a daemon listens, and its queue is full.
    return None if error in (0, errno.EAGAIN) else reason(error)


def reason(error: Optional[int]) -> str:
    """The words for an error of the system."""
    return _WORDS.get(error or 0) or os.strerror(error or 0).lower()


def ask_address(target: str, seconds: float) -> Optional[str]:
    """Why an address does not accept a connection; None if it does, or if only gRPC can read it."""
    parts = _ADDRESS.fullmatch(target)
    if not parts:
        return None
    host, port = parts[1] or parts[2], int(parts[3] or 443)
    found: List[Optional[str]] = [f"no answer in {seconds:.0f} s"]

    def connect() -> None:
        try:
            socket.create_connection((host, port), timeout=seconds).close()
            found[0] = None
        except socket.timeout:
            pass
        except socket.gaierror:
            found[0] = f"the name {host} is not known"
        except OverflowError:
            found[0] = f"{port} is not a port"
        except OSError as error:
            found[0] = reason(error.errno)

    # A thread, because no timeout ends the lookup of a name.
    asking = threading.Thread(target=connect, daemon=True)
    asking.start()
    asking.join(seconds)
    return found[0]


def can_ask(target: str) -> bool:
    """False if only gRPC can read a target."""
    return target.startswith("unix:") or _ADDRESS.fullmatch(target) is not None


def look(sockets: List[str]) -> Tuple[Optional[str], Tried]:
    """The first socket that accepts a connection, else the reasons."""
    tried: Tried = []
    for path in sockets:
        why = ask(path)
        if why is None:
            return path, tried
        tried.append((path, why))
    return None, tried


def address(target: str) -> None:
    """Waits until an address accepts a connection; raises Unavailable if it does not."""
    began = time.monotonic()
    while True:
        left = began + PATIENCE - 0.1 - time.monotonic()
        why = ask_address(target, left)
        if why is None:
            return
        if why != reason(errno.ECONNREFUSED) or time.monotonic() - began > GRACE:
            raise unavailable(f"no amemd answers at {target}: {why}; start it, or correct the address")
        time.sleep(LOOK_EVERY)


def meet(given: Optional[str], autostart: bool, variables: Mapping[str, str]) -> str:
    """The path of a socket that accepts a connection: the given one, else one of the usual. Starts a daemon if none
    does; raises Unavailable if none can be had."""
    began = time.monotonic()
    places = Places(variables)

    def looked() -> Tuple[Optional[str], Tried]:
        return look([given] if given else places.sockets())

    found, tried = looked()
    if found:
        return found
    try:
        program = _startable(given, places, autostart, variables, dict(tried))
        return _start.start(program, given, places.log, variables, lambda: looked()[0], began + PATIENCE - 0.1)
    except _start.NotStarted as error:
        why, remedy, may_come = error.why, error.remedy, not error.was_tried
    while not found and may_come and time.monotonic() - began < GRACE:
        time.sleep(LOOK_EVERY)
        found, tried = looked()
    if found:
        return found
    listed = ", ".join(f"{path} ({what})" for path, what in tried)
    raise unavailable(f"no amemd answers, and {why}; {remedy}; tried {listed}")


def _startable(
    given: Optional[str], places: Places, autostart: bool, variables: Mapping[str, str], tried: Dict[str, str]
) -> str:
    """The program to start; raises NotStarted if none may be started."""
    if not autostart:
        raise _start.NotStarted("none is started, because autostart is off", "start it, or allow autostart")
    if variables.get("AMEM_NO_AUTOSTART", "0") not in ("", "0"):
        raise _start.NotStarted("none is started, because AMEM_NO_AUTOSTART is set", "start it, or unset the variable")
    if given == SYSTEM_SOCKET or (not given and os.path.exists(SYSTEM_SOCKET)):
        raise _start.NotStarted("this machine's is not this user's to start", "run systemctl start amemd")
    named = variables.get("AMEMD_FOLDER")
    if (given and given != places.socket) or (named and os.path.abspath(named) != places.folder):
        # Another daemon may be about to come back there: one with the default folder would take its place.
        raise _start.NotStarted(
            "none is started but with the default socket and the default folder",
            f"run amemd --folder {named or 'FOLDER'} --socket {given or places.socket}, or name neither",
        )
    why = tried.get(given or "", "")
    if why and why not in (reason(errno.ENOENT), reason(errno.ECONNREFUSED)):
        raise _start.NotStarted("a new one could not listen there", "correct the socket")
    return _start.program(variables)


def chosen_again(sockets: Callable[[], List[str]]) -> Callable[[str], str]:
    """For a connection in use: keeps its target while that accepts connections, else finds another. Starts nothing."""

    def again(target: str) -> str:
        path = path_of(target)
        if path is None or ask(path) is None:
            return target
        found, _ = look(sockets())
        return f"unix:{found}" if found else target

    return again


def silent(target: str, attempts: int, seconds: float) -> str:
    """What to say of a daemon that does not answer any more."""
    path = path_of(target)
    why = ask_address(target, 1.0) if path is None else ask(path)
    remedy = f"start it, or {'correct the address' if path is None else 'call connect, which finds or starts one'}"
    if why is None:
        why = "it accepts connections, but they end without an answer"
        if path is None:
            remedy = "check tls (authority, name, certificate) and the port"
    times = "once" if attempts == 1 else f"{attempts} times in {seconds:.1f} s"
    return f"the daemon at {target} does not answer, tried {times}: {why}; {remedy}"
