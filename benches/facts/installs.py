"""What the systems need, each in a folder of its own: nothing is installed into the system or the user's home.

Not here: amemd itself, which is built or named (`run.py`).
"""
import json
import os
import shutil
import subprocess
import sys
import venv

GRPC = ["grpcio==1.85.1", "grpcio-tools==1.85.1"]
MEM0 = ["mem0ai==2.2.1", "langchain==1.5.2"]
SERVER_MEMORY = ["@modelcontextprotocol/server-memory@2026.8.31"]
# Lines of an installer's output that an error shows.
LINES_MAX = 5
COLUMNS_MAX = 200


class Absent(Exception):
    """Why a system cannot be installed."""


def run(command):
    """Runs an installer; raises Absent with the end of what it printed."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            errors="replace", check=False)
    except OSError as error:
        raise Absent(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        said = " | ".join(line[:COLUMNS_MAX] for line in done.stdout.strip().splitlines()[-LINES_MAX:])
        raise Absent(f"{os.path.basename(command[0])} ended with exit code {done.returncode}: {said}")


def once(folder, packages, install):
    """Installs into a folder, unless an earlier run with the same packages finished there."""
    finished = folder / "finished.json"
    if finished.is_file() and json.loads(finished.read_text(encoding="utf-8")) == packages:
        return
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    install()
    finished.write_text(json.dumps(packages), encoding="utf-8")


def python_with(folder, packages):
    """An interpreter with packages."""
    python = folder / "bin" / "python"

    def install():
        try:
            venv.create(folder, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Absent(f"no virtual environment can be made: {error}") from error
        run([str(python), "-m", "pip", "install", "--quiet", "--no-input", "--no-cache-dir", *packages])

    once(folder, packages, install)
    return python


def amemd(folder, protos):
    """An interpreter with gRPC, and the folder of the stubs of our protos."""
    python = python_with(folder / "amemd", GRPC)
    # Always again: the protos are those of the sources, not of an earlier run.
    stubs = folder / "stubs"
    if stubs.exists():
        shutil.rmtree(stubs)
    stubs.mkdir()
    files = sorted(str(file) for file in (protos / "amem" / "v1").glob("*.proto"))
    out = [f"--python_out={stubs}", f"--grpc_python_out={stubs}"]
    run([str(python), "-m", "grpc_tools.protoc", f"-I{protos}", *out, *files])
    return python, {"PYTHONPATH": str(stubs)}, {}


def mem0(folder):
    """An interpreter with mem0, which reports nothing and keeps its own files in the folder."""
    python = python_with(folder / "mem0", MEM0)
    home = folder / "mem0-home"
    home.mkdir(exist_ok=True)
    return python, {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(home), "HOME": str(home)}, {}


def server_memory(folder):
    """Our interpreter, and the script that node runs."""
    packages = folder / "server-memory"
    quiet = ["--silent", "--no-audit", "--no-fund", "--no-update-notifier"]

    def install():
        run(["node", "--version"])
        # The cache is beside the packages, so that it goes with them.
        places = ["--cache", str(packages / "cache"), "--prefix", str(packages)]
        run(["npm", "install", *quiet, *places, *SERVER_MEMORY])

    once(packages, SERVER_MEMORY, install)
    script = packages / "node_modules" / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js"
    if not script.is_file():
        raise Absent(f"the package has no {script.name}")
    return sys.executable, {}, {"script": str(script)}
