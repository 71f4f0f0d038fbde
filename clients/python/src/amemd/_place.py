"""Where a daemon and its clients meet: folders, default socket, and the sockets that a client tries.

The rules are those of docs/decisions/0024-one-place-to-meet.md; clients/places.json has the cases for every language.
Not here: connecting, and starting a daemon (`_meet`, `_start`).
"""

from __future__ import annotations

import os
import pwd
import stat
from typing import Callable, Dict, List, Mapping, Optional, Tuple

SYSTEM_SOCKET = "/run/amemd/amemd.sock"
#: Bytes of the longest default socket. A path has at most 107, and the daemon binds a longer, temporary name first.
SOCKET_BYTES_MAX = 90
#: The folder of a short socket, before the hash.
SHORT = "/tmp/amem-"
#: Bytes that are read of a lock and of `last-daemon`.
FILE_BYTES_MAX = 16 << 10


def account_home() -> Optional[str]:
    """The home folder in the password database."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return None


class Places:
    """The paths that an environment names. A variable that is no absolute path counts as unset."""

    def __init__(
        self,
        variables: Mapping[str, str],
        account: Callable[[], Optional[str]] = account_home,
        uid: Optional[int] = None,
    ) -> None:
        self._variables = variables
        self._uid = os.getuid() if uid is None else uid
        home = self._path("HOME") or absolute(account())
        own = os.path.join(home, ".local/share/amem") if home else None
        given = self._path("XDG_DATA_HOME")
        data = os.path.join(given, "amem") if given else own
        #: The default folder of brains; None without a home folder.
        self.folder = os.path.join(data, "brains") if data else None
        #: The default socket; None without a home folder.
        self.socket = _short(os.path.join(data, "run/amemd.sock")) if data else None
        #: Folder and socket of the last daemon that had another folder.
        self._last = _last_daemon(own) if own and not given else None
        if self._last:
            self.folder, self.socket = self._last
        state = self._path("XDG_STATE_HOME") or (os.path.join(home, ".local/state") if home else None)
        #: The log of a daemon that a client starts.
        self.log = os.path.join(state, "amem/amemd.log") if state else None

    def _path(self, name: str) -> Optional[str]:
        return absolute(self._variables.get(name))

    def sockets(self) -> List[str]:
        """The sockets that a client without a given one tries, in order. Reads the locks again."""
        run = self._path("XDG_RUNTIME_DIR") or f"/run/user/{self._uid}"
        named = self._variables.get("AMEMD_FOLDER")
        folder = os.path.abspath(named) if named else self.folder
        found = [self.socket, os.path.join(run, "amemd/amemd.sock"), _locked_by(folder)]
        if self._last:
            found += [self._last[1], _locked_by(self._last[0])]
        found.append(SYSTEM_SOCKET)
        return list(dict.fromkeys(path for path in found if path))


def absolute(path: Optional[str]) -> Optional[str]:
    """The path, if it is absolute."""
    return path if path and os.path.isabs(path) else None


def is_foreign(socket: str) -> bool:
    """True if the folder of a short socket is not a folder of this user: another user could listen there."""
    folder = os.path.dirname(socket)
    if not folder.startswith(SHORT):
        return False
    try:
        about = os.lstat(folder)
    except OSError:
        return False
    return not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid()


def _short(socket: str) -> str:
    name = os.fsencode(socket)
    if len(name) <= SOCKET_BYTES_MAX:
        return socket
    hashed = 0xCBF29CE484222325
    for byte in name:
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    return f"{SHORT}{hashed:016x}/amemd.sock"


def _last_daemon(own: str) -> Optional[Tuple[str, str]]:
    """Folder and socket in `last-daemon`, unless that folder is gone or the folder of brains beside the file has a
    brain."""
    lines = _lines(os.path.join(own, "last-daemon"))
    folder, socket = absolute(lines.get("folder")), absolute(lines.get("socket"))
    if not folder or not socket or not os.path.isdir(folder):
        return None
    written, here = _written_place(lines), _place_of(own)
    # A folder that was moved has its numbers still, a restored one its path; a copy has neither.
    if written and here and written[:2] != here[:2] and written[2] != here[2]:
        return None
    try:
        has_brains = any(name.endswith(".amem") for name in os.listdir(os.path.join(own, "brains")))
    except OSError:
        has_brains = False
    return None if has_brains else (folder, socket)


def _locked_by(folder: Optional[str]) -> Optional[str]:
    """The socket of the daemon that had a folder last; None in a copy of that folder, whose daemon has the original."""
    if not folder:
        return None
    lines = _lines(os.path.join(folder, ".amemd/lock"))
    written, here = _written_place(lines), _place_of(folder)
    if written and here and written[:2] != here[:2]:
        return None
    return absolute(lines.get("socket"))


#: The numbers of a folder's device and inode, and its path without links.
FolderPlace = Tuple[str, str, str]


def _written_place(lines: Mapping[str, str]) -> Optional[FolderPlace]:
    """The folder that a file was written for; None in files of earlier releases."""
    device, _, rest = lines.get("at", "").partition(" ")
    inode, _, path = rest.partition(" ")
    return (device, inode, path) if device.isdigit() and inode.isdigit() else None


def _place_of(folder: str) -> Optional[FolderPlace]:
    try:
        about = os.stat(folder)
    except OSError:
        return None
    return str(about.st_dev), str(about.st_ino), os.path.realpath(folder)


def _lines(path: str) -> Dict[str, str]:
    """The lines `name value` of a file; none if it cannot be read."""
    try:
        # A pipe at this path must not block.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            text = os.fsdecode(file.read(FILE_BYTES_MAX) or b"")
    except OSError:
        return {}
    rows = (line.partition(" ") for line in text.split("\n"))
    return {name: value for name, _, value in rows}
