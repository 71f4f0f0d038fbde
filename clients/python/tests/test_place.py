"""The first contact: where a daemon is looked for, how one is started, and what is said if none can be had.

With AMEMD, the path of the real daemon, also beside it; otherwise beside scripts in its place.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import amemd
from amemd import _meet, _place, _start, client

AMEMD = os.environ.get("AMEMD")
CASES = json.loads((Path(__file__).parents[2] / "places.json").read_text(encoding="utf-8"))["cases"]
#: What gRPC says of a daemon that does not answer.
WORDS_OF_GRPC = ("failed to connect", "addresses", "ipv4:", "RPC", "channel", "Socket closed")
#: Writes what it was started with, and listens for a while at the given or the usual path.
LISTENS = """#!{python} -SE
import json, os, socket, sys, time
where = sys.argv[2] if len(sys.argv) > 1 else os.environ["HOME"] + "/.local/share/amem/run/amemd.sock"
about = dict(pid=os.getpid(), session=os.getsid(0), folder=os.getcwd(), given=sys.argv[1:], variables=dict(os.environ))
with open("{about}", "w") as file:
    json.dump(about, file)
os.makedirs(os.path.dirname(where), exist_ok=True)
listening = socket.socket(socket.AF_UNIX)
listening.bind(where)
listening.listen()
time.sleep(30)
"""


class Contact(unittest.TestCase):
    """Tests with a home folder of their own, in which the machine has no daemon."""

    def setUp(self):
        # Short, because the path of a socket is bounded.
        self.root = Path(tempfile.mkdtemp(dir="/tmp", prefix="amem-t-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.home, self.bin = self.root / "home", self.root / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        self.log = self.home / ".local/state/amem/amemd.log"
        self.socket = self.home / ".local/share/amem/run/amemd.sock"
        variables = {"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin"}
        variables["XDG_RUNTIME_DIR"] = str(self.root / "run")
        self.variables = mock.patch.dict(os.environ, variables, clear=True)
        self.variables.start()
        self.addCleanup(self.variables.stop)
        for module in (_place, _meet):
            patched = mock.patch.object(module, "SYSTEM_SOCKET", str(self.root / "system/amemd.sock"))
            patched.start()
            self.addCleanup(patched.stop)

    def patient(self):
        """Waits for longer: the machine may be busy."""
        patched = mock.patch.object(_meet, "PATIENCE", 20)
        patched.start()
        self.addCleanup(patched.stop)

    def amemd(self, text):
        """Puts a script on PATH in the place of amemd."""
        path = self.bin / "amemd"
        path.write_text(text)
        path.chmod(0o755)
        return path

    def shell(self, text):
        return self.amemd(f"#!/bin/sh\necho $$ >> {self.root}/pids\n{text}\n")

    def ended(self):
        """Ends what the scripts left."""
        for pid in (self.root / "pids").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)

    def listening(self):
        about = self.root / "about.json"
        self.amemd(LISTENS.format(python=sys.executable, about=about))
        self.patient()
        return about

    def listen(self, path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        listening.listen()
        self.addCleanup(listening.close)
        return listening

    def refused(self, *given, within=2.0, **how):
        """The message of a connect that fails."""
        began = time.monotonic()
        with self.assertRaises(amemd.Unavailable) as caught:
            amemd.connect(*given, **how)
        self.assertLess(time.monotonic() - began, within)
        return self.said(caught.exception)

    def said(self, error):
        self.assertEqual((error.code, error.reason), ("UNAVAILABLE", "NO_DAEMON"))
        for words in WORDS_OF_GRPC:
            self.assertNotIn(words, error.message)
        return error.message


class Table(unittest.TestCase):
    def test_every_case_of_the_list_holds(self):
        for case in CASES:
            with self.subTest(case["name"]), tempfile.TemporaryDirectory(dir="/tmp", prefix="amem-t-") as root:

                def filled(value):
                    if isinstance(value, dict):
                        return {filled(key): filled(one) for key, one in value.items()}
                    if isinstance(value, list):
                        return [filled(one) for one in value]
                    return value.replace("$ROOT", root).replace("$UID", "7") if value else value

                for path, text in filled(case.get("files", {})).items():
                    Path(path).parent.mkdir(parents=True, exist_ok=True)
                    Path(path).write_text(text, encoding="utf-8")
                places = _place.Places(filled(case["variables"]), lambda: filled(case.get("account_home")), 7)
                found = {"socket": places.socket, "folder": places.folder, "sockets": places.sockets()}
                self.assertEqual(found, {key: filled(case[key]) for key in found})


class Choice(Contact):
    def test_the_first_socket_that_accepts_is_taken(self):
        self.listen(self.root / "run/amemd/amemd.sock")
        with amemd.connect() as made:
            self.assertEqual(made.target, f"unix:{self.root}/run/amemd/amemd.sock")
        self.listen(self.socket)
        with amemd.connect() as made:
            self.assertEqual(made.target, f"unix:{self.socket}")

    def test_the_socket_in_the_lock_is_tried(self):
        lock = self.home / ".local/share/amem/brains/.amemd/lock"
        lock.parent.mkdir(parents=True)
        lock.write_text(f"pid 1\nsocket {self.root}/s\n")
        self.listen(self.root / "s")
        with amemd.connect() as made:
            self.assertEqual(made.target, f"unix:{self.root}/s")

    def test_a_full_queue_is_a_daemon(self):
        listening = self.listen(self.socket)
        listening.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(4)]
        for one in waiting:
            self.addCleanup(one.close)
            one.setblocking(False)
            one.connect_ex(str(self.socket))
        self.assertIsNone(_meet.ask(str(self.socket)))

    def test_a_short_socket_in_a_folder_of_another_user_is_not_taken(self):
        with mock.patch.object(_place, "SHORT", f"{self.root}/short-"):
            path = self.root / "short-1/amemd.sock"
            self.listen(path)
            self.assertIsNone(_meet.ask(str(path)))
            with mock.patch.object(os, "geteuid", return_value=os.geteuid() + 1):
                self.assertIn("does not belong to this user", _meet.ask(str(path)))
            (self.root / "short-2").symlink_to(path.parent)
            self.assertIn("does not belong to this user", _meet.ask(str(self.root / "short-2/amemd.sock")))

    def test_a_pipe_in_the_place_of_a_lock_does_not_block(self):
        lock = self.home / ".local/share/amem/brains/.amemd/lock"
        lock.parent.mkdir(parents=True)
        os.mkfifo(lock)
        self.assertEqual(len(client.usual_sockets(os.environ)), 3)


class Start(Contact):
    def test_a_daemon_is_started_on_its_own(self):
        about = self.listening()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.home)
        os.environ.update(AMEMD_FOLDER=".local/share/amem/brains", AMEMD_LOG="debug")
        with amemd.connect() as made:
            self.assertEqual(made.target, f"unix:{self.socket}")
        found = json.loads(about.read_text())
        self.addCleanup(os.kill, found["pid"], signal.SIGKILL)
        self.assertEqual((found["session"], found["folder"], found["given"]), (found["pid"], "/", []))
        variables = found["variables"]
        self.assertEqual(variables["MALLOC_ARENA_MAX"], "2")
        self.assertEqual((variables["AMEMD_FOLDER"], variables["AMEMD_LOG"]), (str(self.home / ".local/share/amem/brains"), "debug"))
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (self.log, self.log.parent)]
        self.assertEqual(modes, [0o600, 0o700])

    def test_a_given_socket_is_passed_on_if_it_is_the_default_one(self):
        about = self.listening()
        with amemd.connect(str(self.socket)) as made:
            self.assertEqual(made.target, f"unix:{self.socket}")
        found = json.loads(about.read_text())
        self.addCleanup(os.kill, found["pid"], signal.SIGKILL)
        self.assertEqual(found["given"], ["--socket", str(self.socket)])

    def test_none_is_started_in_the_place_of_another(self):
        self.shell("exit 3")
        message = self.refused(f"{self.root}/given/s")
        self.assertIn(f"run amemd --folder FOLDER --socket {self.root}/given/s", message)
        with mock.patch.dict(os.environ, AMEMD_FOLDER=f"{self.root}/f"):
            self.assertIn(f"run amemd --folder {self.root}/f --socket {self.socket}", self.refused())
        self.assertFalse((self.root / "pids").exists())

    def test_the_variable_names_the_program(self):
        about = self.listening()
        os.environ["AMEMD"] = str((self.bin / "amemd").rename(self.root / "other"))
        amemd.connect().close()
        os.kill(json.loads(about.read_text())["pid"], signal.SIGKILL)

    def test_the_last_words_of_a_daemon_that_fails_are_shown(self):
        self.shell("echo 'the folder is on fire' >&2; exit 3")
        message = self.refused()
        for words in ("exit code 3", "the folder is on fire", str(self.log), "--check-config", str(self.socket)):
            self.assertIn(words, message)
        self.shell("kill -9 $$")
        self.assertIn("ended with signal 9: it printed nothing", self.refused())

    def test_a_daemon_that_takes_long_is_not_awaited(self):
        self.shell("exec sleep 30")
        self.addCleanup(self.ended)
        self.assertIn("was started and does not listen yet; try again", self.refused(within=2.2))

    def test_a_folder_in_use_makes_the_client_look_again(self):
        self.patient()
        self.shell("exit 75")
        late = threading.Timer(0.6, self.listen, [self.socket])
        late.start()
        self.addCleanup(late.join)
        with amemd.connect() as made:
            self.assertEqual(made.target, f"unix:{self.socket}")

    def test_a_folder_in_use_by_a_daemon_out_of_sight_is_said(self):
        self.shell("echo 'process 7 has it' >&2; exit 75")
        message = self.refused(within=2.2)
        self.assertIn("folder in use", message)
        self.assertIn("process 7 has it", message)
        self.assertIn("AMEMD_SOCKET", message)

    def test_none_is_started_if_the_caller_opted_out(self):
        self.shell("exit 3")
        self.assertIn("autostart is off", self.refused(autostart=False))
        for value in ("1", "true", "no"):
            with mock.patch.dict(os.environ, AMEM_NO_AUTOSTART=value):
                self.assertIn("AMEM_NO_AUTOSTART is set", self.refused())
        self.assertFalse((self.root / "pids").exists())
        for value in ("0", ""):
            with mock.patch.dict(os.environ, AMEM_NO_AUTOSTART=value):
                self.assertIn("exit code 3", self.refused())

    def test_the_daemon_of_the_machine_is_not_replaced(self):
        self.shell("exit 3")
        self.listen(_meet.SYSTEM_SOCKET).close()
        self.assertIn("systemctl start amemd", self.refused())
        self.assertIn("systemctl start amemd", self.refused(_meet.SYSTEM_SOCKET))

    def test_a_missing_program_is_said_with_what_was_tried(self):
        os.environ["PATH"] = "/nowhere"
        message = self.refused()
        for words in ("no amemd on PATH", f"{self.socket} (no such socket)", _meet.SYSTEM_SOCKET, "set AMEMD"):
            self.assertIn(words, message)
        os.environ["AMEMD"] = "/nowhere/amemd"
        self.assertIn("AMEMD names /nowhere/amemd, which is not a program", self.refused())

    def test_a_log_that_is_not_ours_is_refused(self):
        self.shell("exit 3")
        (self.root / "other").touch()
        self.log.parent.mkdir(parents=True)
        self.log.symlink_to(self.root / "other")
        self.assertIn("cannot be written", self.refused())
        self.log.unlink()
        os.mkfifo(self.log)
        self.assertIn("is not a regular file", self.refused())
        self.log.unlink()
        with mock.patch.object(os, "geteuid", return_value=os.geteuid() + 1):
            self.assertIn("belongs to another user", self.refused())
        shutil.rmtree(self.log.parent)
        (self.root / "there").mkdir()
        self.log.parent.symlink_to(self.root / "there")
        self.assertIn("is a link", self.refused())
        self.assertEqual((self.root / "other").read_text(), "")

    def test_a_large_log_is_rotated(self):
        self.shell("exit 3")
        self.log.parent.mkdir(parents=True)
        with self.log.open("w") as file:
            file.truncate(_start.LOG_BYTES_MAX + 1)
        self.refused()
        self.assertEqual((self.log.stat().st_size, os.path.getsize(f"{self.log}.1")), (0, _start.LOG_BYTES_MAX + 1))


class Silence(Contact):
    def test_a_given_target_that_does_not_answer_is_said_in_time(self):
        os.environ["PATH"] = "/nowhere"
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{unused.getsockname()[1]}"
        self.assertIn(f"no amemd answers at {address}: connection refused", self.refused(address))
        self.assertIn("no such socket", self.refused("unix:/nowhere/s"))
        self.assertIn("longer than 107 bytes", self.refused("/" + "s" * 108))
        self.assertIn("is not known", self.refused("nowhere.invalid:1"))
        os.environ["AMEMD_ADDRESS"] = address
        self.assertIn(address, self.refused())

    def test_a_name_that_is_looked_up_forever_is_said_in_time(self):
        stopped = threading.Event()
        self.addCleanup(stopped.set)

        def looked_up(*_, **__):
            stopped.wait(10)
            raise socket.timeout

        with mock.patch.object(socket, "create_connection", looked_up):
            self.assertIn("no answer in 2 s", self.refused("h:1"))

    def test_a_daemon_that_restarts_is_found(self):
        self.shell("exit 3")
        late = threading.Timer(0.2, self.listen, [self.socket])
        late.start()
        self.addCleanup(late.join)
        amemd.connect(autostart=False).close()

    def test_at_the_end_of_the_attempts_the_daemon_is_named(self):
        listening = self.listen(self.socket)
        with amemd.connect(retry_for=0.3, timeout=5) as made:
            listening.close()
            with self.assertRaises(amemd.Unavailable) as caught:
                made.version()
        message = self.said(caught.exception)
        for words in (f"the daemon at unix:{self.socket} does not answer", "times in 0.", "refused; start it"):
            self.assertIn(words, message)

    def test_a_wrong_certificate_is_said_soon(self):
        with socket.socket() as listening, mock.patch.object(client, "_FIRST_PATIENCE", 0.3):
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            address = f"127.0.0.1:{listening.getsockname()[1]}"

            def close_all():
                with contextlib.suppress(OSError):
                    while True:
                        listening.accept()[0].close()

            threading.Thread(target=close_all, daemon=True).start()
            with amemd.connect(address, tls=amemd.Tls(b"")) as made, self.assertRaises(amemd.Unavailable) as caught:
                made.version()
            listening.shutdown(socket.SHUT_RDWR)
        self.assertIn("check tls", self.said(caught.exception))


@unittest.skipUnless(AMEMD, "AMEMD is not set")
class Real(Contact):
    def setUp(self):
        super().setUp()
        os.environ["AMEMD"] = AMEMD
        self.patient()
        self.started = []
        self.addCleanup(self.stop)

    def stop(self):
        """Ends the daemons of this home."""
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"HOME={self.home}".encode() in (process / "environ").read_bytes().split(b"\0"):
                    if os.readlink(process / "exe") == os.path.realpath(AMEMD):
                        os.kill(int(process.name), signal.SIGKILL)
        for one in self.started:
            one.wait()

    def start(self, path):
        self.started.append(subprocess.Popen([AMEMD, "--socket", str(path)], stderr=subprocess.DEVNULL))
        until = time.monotonic() + 20
        while _meet.ask(str(path)) and time.monotonic() < until:
            time.sleep(0.02)

    def test_the_first_line_of_a_new_user_works(self):
        with amemd.connect() as made:
            brain = made.brain("work", create=True, dimension=0)
            brain.add_fact("it works from nothing")
            self.assertEqual(brain.query(limit=5)[0].text, "it works from nothing")

    def test_many_at_once_find_one_daemon(self):
        code = "import amemd; from amemd import _meet; _meet.PATIENCE = 20; print(amemd.connect().version())"
        path = os.pathsep.join(filter(None, sys.path))
        command, variables = [sys.executable, "-c", code], {**os.environ, "PYTHONPATH": path}
        begun = [subprocess.Popen(command, env=variables, stdout=subprocess.PIPE) for _ in range(4)]
        said = [one.communicate()[0] for one in begun]
        self.assertEqual((len(set(said)), bool(said[0])), (1, True))

    def test_calls_and_subscriptions_follow_a_daemon_that_moves(self):
        self.start(self.socket)
        with amemd.connect() as made:
            brain = made.brain("work", create=True, dimension=0)
            with brain.subscribe() as commits:
                self.stop()
                moved = self.root / "run/amemd/amemd.sock"
                late = threading.Timer(0.3, self.start, [moved])
                late.start()
                brain.add_fact("it moved")
                late.join()
                self.assertEqual(made.target, f"unix:{moved}")
                self.assertEqual(next(commits).changes[0].event.text, "it moved")

    def test_nothing_is_started_in_the_middle(self):
        self.start(self.socket)
        with amemd.connect(retry_for=0.3) as made:
            self.stop()
            with self.assertRaises(amemd.Unavailable) as caught:
                made.version()
        self.assertIn("does not answer", self.said(caught.exception))
        self.assertIsNotNone(_meet.ask(str(self.socket)))


if __name__ == "__main__":
    unittest.main()
