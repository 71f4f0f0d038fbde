"""Starts a daemon that outlives this process: in a session of its own, with its log in a file.

Promises: if the daemon ends at once, the error has the last lines of its log; of two daemons started at once one wins,
and both callers find it. Not here: when to start one (`_meet`).
"""

from __future__ import annotations

import os
import stat
import subprocess
import threading
import time
from typing import Callable, Dict, List, Mapping, Optional

#: Exit code of a daemon whose folder or socket another one has.
IN_USE = 75
#: Seconds between looks for a socket.
LOOK_EVERY = 0.01
#: Seconds before another start, while another daemon has the folder.
START_EVERY = 0.25
#: Bytes at which the log is rotated; one older log stays.
LOG_BYTES_MAX = 8 << 20
#: Bytes of the log that an error shows.
LOG_TAIL_BYTES = 1000
#: Ends of the names of amemd's variables that hold a path.
_PATHS = ("FOLDER", "CONFIG", "_FILE", "_CERTIFICATE", "_KEY", "_CA")


class NotStarted(Exception):
    """Why no daemon was started, and what to do. `was_tried` is False if none was."""

    def __init__(self, why: str, remedy: str, was_tried: bool = False) -> None:
        super().__init__(f"{why}; {remedy}")
        self.why = why
        self.remedy = remedy
        self.was_tried = was_tried


def program(variables: Mapping[str, str]) -> str:
    """`$AMEMD`, else the first `amemd` on PATH."""
    named = variables.get("AMEMD")
    if named:
        if _is_program(named):
            return os.path.abspath(named)
        raise NotStarted(f"AMEMD names {named}, which is not a program", "set AMEMD to the path of amemd, or unset it")
    # An empty entry would be the current folder.
    for folder in filter(None, variables.get("PATH", "").split(os.pathsep)):
        path = os.path.join(folder, "amemd")
        if _is_program(path):
            return os.path.abspath(path)
    raise NotStarted("there is no amemd on PATH", "install amemd, set AMEMD to its path, or start it yourself")


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def start(
    path: str,
    socket: Optional[str],
    log_path: Optional[str],
    variables: Mapping[str, str],
    look: Callable[[], Optional[str]],
    until: float,
) -> str:
    """Starts a program and waits until `look` finds a socket, which it returns. Raises NotStarted if the program ends,
    and at `until`. A program that runs by then goes on."""
    log = _Log(log_path)
    child: Optional["subprocess.Popen[bytes]"] = None
    try:
        command = [path, *(["--socket", socket] if socket else [])]
        child, started, is_in_use = _spawn(command, variables, log), time.monotonic(), False
        while True:
            # First the status, then the socket: a daemon that found another one has ended since.
            status = child.poll() if child else None
            found = look()
            if found:
                return found
            if status == IN_USE:
                child, is_in_use = None, True
            elif status is not None:
                how = f"signal {-status}" if status < 0 else f"exit code {status}"
                said = log.tail() or "it printed nothing"
                raise NotStarted(
                    f"{path} ended with {how}: {said}",
                    f"correct what it reports (its log is {log.path}; `amemd --check-config` shows its settings)",
                    True,
                )
            now = time.monotonic()
            if now > until:
                raise _late(path, is_in_use, log)
            if child is None and now - started > START_EVERY:
                child, started = _spawn(command, variables, log), now
            time.sleep(LOOK_EVERY)
    finally:
        log.close()
        if child is not None and child.returncode is None:
            # Reaps the daemon if it ends before this process.
            threading.Thread(target=child.wait, daemon=True).start()


def _late(path: str, is_in_use: bool, log: "_Log") -> NotStarted:
    if is_in_use:
        why = f"a new one found its folder in use: {log.tail() or 'another daemon has it'}"
        return NotStarted(why, "set AMEMD_SOCKET to the socket of that daemon, or stop it", True)
    why = f"{path} was started and does not listen yet"
    return NotStarted(why, f"try again in a moment; its log is {log.path}", True)


def _spawn(command: List[str], variables: Mapping[str, str], log: "_Log") -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            command,
            # The daemon must not keep this folder busy.
            cwd="/",
            env=environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log.file,
            start_new_session=True,
        )
    except OSError as error:
        why = f"{command[0]} cannot be run: {error.strerror}"
        raise NotStarted(why, "correct that, or start amemd yourself") from None


def environment(variables: Mapping[str, str]) -> Dict[str, str]:
    """The daemon's variables: this process's, with paths that do not depend on its folder."""
    given = dict(variables)
    for name, value in variables.items():
        if name.startswith("AMEMD_") and name.endswith(_PATHS) and value:
            given[name] = os.path.abspath(value)
    # As in the units: malloc otherwise keeps memory for each thread.
    given.setdefault("MALLOC_ARENA_MAX", "2")
    return given


class _Log:
    """The daemon's log, and what it said since. The file and its folder must belong to this user."""

    def __init__(self, path: Optional[str]) -> None:
        if path is None:
            raise NotStarted("there is no home folder for the log of a new one", "set HOME, or start amemd yourself")
        self.path = path
        folder = os.path.dirname(path)
        try:
            _make(folder)
            about = os.lstat(folder)
            if not stat.S_ISDIR(about.st_mode):
                raise _unfit(folder, "is a link or a file")
            _check_owner(folder, about)
            if os.path.lexists(path) and os.lstat(path).st_size > LOG_BYTES_MAX:
                os.rename(path, f"{path}.1")
            # Follow no link, wait for no pipe.
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            self.file = os.open(path, flags, 0o600)
        except OSError as error:
            raise _unfit(path, f"cannot be written: {error.strerror}") from None
        try:
            about = os.fstat(self.file)
            if not stat.S_ISREG(about.st_mode):
                raise _unfit(path, "is not a regular file")
            _check_owner(path, about)
        except NotStarted:
            self.close()
            raise
        self._from = about.st_size

    def tail(self) -> str:
        """The last lines that were logged since, as one line."""
        try:
            size = os.fstat(self.file).st_size
            begin = max(self._from, size - LOG_TAIL_BYTES)
            text = os.pread(self.file, max(0, size - begin), begin).decode(errors="replace")
        except OSError:
            return ""
        return " / ".join(line.strip() for line in text.splitlines() if line.strip())

    def close(self) -> None:
        os.close(self.file)


def _make(folder: str) -> None:
    """Makes a folder and those above it, with mode 0700."""
    if not os.path.isdir(folder):
        _make(os.path.dirname(folder))
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            pass


def _check_owner(path: str, about: os.stat_result) -> None:
    if about.st_uid != os.geteuid():
        raise _unfit(path, "belongs to another user")


def _unfit(path: str, why: str) -> NotStarted:
    remedy = "move it, set XDG_STATE_HOME to a folder that you own, or start amemd yourself"
    return NotStarted(f"a new one cannot log: {path} {why}", remedy)
