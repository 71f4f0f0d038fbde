"""A private daemon with the conversations of the data in its brains, and the questions sent to it."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import to_jsonl

PATIENCE_SECS = 10


def build():
    """Builds the programs; returns their folder."""
    ours = pathlib.Path(__file__).resolve().parents[2]
    packages = [word for package in ("amemd", "amemctl", "amem-benches") for word in ("-p", package)]
    built = subprocess.run(["cargo", "build", "--release", "--quiet", *packages], cwd=ours, check=False)
    if built.returncode != 0:
        sys.exit("the programs can't be built: see above")
    # Cargo resolves a relative folder from its working directory.
    return ours / os.environ.get("CARGO_TARGET_DIR", "target") / "release"


class Bench:
    """A daemon on a private folder and socket, while the block runs."""

    def __init__(self, programs, folder, scorer, models=None):
        self.models = models
        self.programs = programs
        self.folder = folder
        self.scorer = scorer
        self.socket = folder / "run" / "amemd.sock"
        self.http = folder / "run" / "http.sock"
        self.imported = set()

    def __enter__(self):
        brains = self.folder / "brains"
        brains.mkdir()
        with open(self.folder / "amemd.log", "w", encoding="utf-8") as log:
            command = [self.programs / "amemd", "--folder", brains, "--socket", self.socket, "--set", f"http.listen={self.http}"]
            if self.models:
                command += ["--set", f"models.file={self.models.absolute()}"]
            self.daemon = subprocess.Popen(command, stderr=log)
        until = time.monotonic() + PATIENCE_SECS
        while not self.socket.exists():
            if self.daemon.poll() is not None or time.monotonic() > until:
                self.daemon.kill()
                sys.exit("amemd does not start: " + (self.folder / "amemd.log").read_text(encoding="utf-8"))
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self.daemon.terminate()
        self.daemon.wait(PATIENCE_SECS)

    def import_once(self, name, conversation):
        """Imports a conversation into the brain of its name, if it is not there yet."""
        if name in self.imported:
            return
        turns = self.folder / "turns.jsonl"
        turns.write_text("\n".join(to_jsonl.turns(conversation, name)), encoding="utf-8")
        command = ["import", "--json", "--format", "conversation", turns, "--brain", name, "--socket", self.socket]
        answer = subprocess.run([self.programs / "amemctl", *command], check=True, stdout=subprocess.PIPE)
        imported = json.loads(answer.stdout)["data"]
        if int(imported["events"]) != len(conversation["turns"]):
            sys.exit(f"{name}: {len(conversation['turns'])} turns, but {imported}")
        self.imported.add(name)

    def ask(self, conversations, mode, run, *options):
        """Sends the questions of all conversations; returns the file of the answers (`amem-benches ask --help`)."""
        questions = self.folder / "questions.jsonl"
        run = self.folder / run
        with open(run, "w", encoding="utf-8") as answers:
            for name, conversation in conversations.items():
                self.import_once(name, conversation)
                with open(questions, "w", encoding="utf-8") as file:
                    for question in conversation["questions"]:
                        line = {"conv": name, "qid": question["qid"], "question": question["question"]}
                        print(json.dumps(line), file=file)
                command = ["ask", "--socket", self.socket, "--brain", name, "--mode", mode, *options, questions]
                subprocess.run([self.programs / "amem-benches", *command], check=True, stdout=answers)
        return run

    def keep(self, folder):
        """Copies the files of answers."""
        folder.mkdir(parents=True, exist_ok=True)
        for run in self.folder.glob("*.run.jsonl"):
            shutil.copy(run, folder)
