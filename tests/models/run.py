"""Memory with real small models: the ladder of forms beside another prompt, and what one model wrote, another reads.

    run.py --programs FOLDER --model NAME=URL --model NAME=URL [--prompt FILE] [--json FILE]

FOLDER has `amemd` and `amemctl`. Each URL is a server with the interface of OpenAI, such as `serve.py`. With --prompt, the
turns are also given to the models under the system message of that file, which asks for a JSON list of sentences. Exit code 1
if something holds that a model must not break: a fact that no turn supports is stored, a brain has a name of a model or
server, a memory is lost when models are switched. How good the models are breaks nothing.
"""
import argparse
import http.client
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

PATIENCE_SECS = 20
# A small model may go on until the limit, on one thread.
CALL_SECS = 120
TOKENS_MAX = 128

# Turns, and a word that a fact about each must have; none where there is nothing to remember.
TURNS = [
    ("Hi, I'm Marta and I work as a bridge engineer in Gdansk.", "bridge"),
    ("Good morning, how are you today?", None),
    ("I am allergic to peanuts, so please leave them out.", "peanuts"),
    ("We decided to use Postgres instead of MongoDB because we need transactions.", "Postgres"),
    ("My brother Jonas moved to Lisbon in March 2024.", "Lisbon"),
    ("What is the difference between a fjord and a bay?", None),
    ("I prefer tea to coffee and I never drink soda.", "tea"),
    ("Our dog Bruno is seven years old.", "Bruno"),
    ("Could you shorten that last answer?", None),
    ("I bought a red Yamaha last summer.", "Yamaha"),
    ("My deadline for the grant is the 14th of May.", "grant"),
    ("I play the cello in a small orchestra.", "cello"),
    ("The staging server runs on port 8443.", "8443"),
    ("Thanks, that helps a lot!", None),
    ("My daughter Ines starts school in September.", "Ines"),
    ("I can't eat gluten any more.", "gluten"),
    ("We moved the meeting to Thursday because Paul is ill.", "Thursday"),
    ("To deploy, run make release on the main branch.", "make release"),
    ("I'm learning Portuguese with my neighbour.", "Portuguese"),
    ("Let's see.", None),
]

# What is said in sessions with one model, a question to the other, and what the memory that it is given must have.
TRANSFERS = [
    ("a fact", ["I live in Porto."], "where do I live?", "Porto"),
    ("a decision", ["We chose SQLite because it is one file."], "why did we choose SQLite?", "SQLite"),
    ("a correction", ["I live in Porto.", "I moved to Rome."], "did I move to Rome?", "Rome"),
    ("an inference", ["The build fails on Mondays, that means the cron job is broken."], "is the cron job broken?", "cron job"),
    ("a skill", ["To deploy, run make release."], "how do I deploy a release?", "make release"),
    ("a person", ["My sister Anna works at Equinor."], "where does my sister Anna work?", "Equinor"),
    ("a preference", ["I prefer tea to coffee."], "do I prefer tea or coffee?", "tea"),
]
BETWEEN = ["I drink green tea.", "I play the cello.", "I prefer dark mode.", "I speak Turkish."]


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=600)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class World:
    """A folder of brains, and daemons that work on it one after the other, each with its model."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.brains = folder / "brains"
        self.brains.mkdir()
        self.socket = folder / "run" / "amemd.sock"
        self.http = folder / "run" / "http.sock"
        self.models = folder / "models.toml"
        self.daemon = None

    def switch(self, name, url):
        self.stop()
        self.models.write_text(
            f'[language]\nprovider = "openai"\nmodel = "{name}"\nbase_url = "{url}/v1"\nproxy = "none"\n'
            f"call_secs = {CALL_SECS}\ndeadline_secs = {3 * CALL_SECS}\nmax_tokens = {TOKENS_MAX}\n"
        )
        with open(self.folder / "amemd.log", "a", encoding="utf-8") as log:
            command = [self.programs / "amemd", "--folder", self.brains, "--socket", self.socket]
            settings = [f"models.file={self.models}", f"http.listen=unix:{self.http}"]
            settings += [f"limits.{limit}_secs={3 * CALL_SECS}" for limit in ("deadline", "deadline_max")]
            for setting in settings:
                command += ["--set", setting]
            self.daemon = subprocess.Popen(command, stderr=log)
        until = time.monotonic() + PATIENCE_SECS
        while True:
            try:
                Unix(self.http).connect()
                return
            except OSError:
                if self.daemon.poll() is not None or time.monotonic() > until:
                    sys.exit("amemd does not start: " + (self.folder / "amemd.log").read_text(encoding="utf-8"))
                time.sleep(0.02)

    def stop(self):
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait(PATIENCE_SECS)
            self.daemon = None

    def post(self, call, body):
        connection = Unix(self.http)
        connection.request("POST", f"/v1/brains/memories/{call}", json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            sys.exit(f"{call}: {answer.status} {text.decode()}")
        return json.loads(text)

    def add(self, text, **more):
        return self.post("add-facts", {"messages": [{"text": text}], "scope": {"user": "ada"}, **more})

    def ctl(self, *words, wants=(0,)):
        command = [self.programs / "amemctl", *words, "--json"]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if ran.returncode not in wants:
            sys.exit(f"{words}: {ran.stderr.decode()} {ran.stdout.decode()}")
        return json.loads(ran.stdout)

    def ask(self, question):
        words = ["chat", question, "--user", "ada", "--explain", "--models", self.models, "--socket", self.socket]
        return self.ctl(*words)


def ladder(world, name, url):
    """What the forms give, strictest first."""
    world.switch(name, url)
    probed = world.ctl("fact", "probe-model", "--models", world.models)["data"]
    rows = []
    for form in probed["tried"]:
        rows.append({"model": name, "what": f"form {form['form']}", "of": 8, **{
            key: form[key] for key in ("readable", "facts", "grounded", "calls", "seconds")}})
    return rows, probed["form"]


def counted(answer, stage, what):
    """A count of a stage; 0 is left out of an answer."""
    counts = [one for row in answer["stages"] if row["stage"] == stage for one in row["counts"]]
    return sum(int(one.get("count", 0)) for one in counts if one["what"] == what)


def formation(world, name, url, prompt):
    """Facts of the turns, each in a dry run, with our prompts or another."""
    world.switch(name, url)
    rows = []
    for what, more in [("our prompts", {}), ("other prompt", {"prompt": prompt})]:
        if what == "other prompt" and not prompt:
            continue
        row = {"model": name, "what": what, "turns": len(TURNS), "stored": 0, "by_model": 0, "ungrounded": 0, "found": 0,
               "noise": 0, "calls": 0, "seconds": 0.0}
        for text, word in TURNS:
            began = time.monotonic()
            answer = world.add(text, dryRun=True, **more)
            row["seconds"] += time.monotonic() - began
            facts = answer.get("results", [])
            row["stored"] += len(facts)
            row["by_model"] += counted(answer, "extract", "by_model")
            row["ungrounded"] += sum("not grounded" in one["why"] for one in answer.get("rejected", []))
            row["calls"] += answer.get("usage", {}).get("calls", 0)
            texts = " ".join(fact["memory"] for fact in facts).lower()
            row["found"] += word is not None and word.lower() in texts
            row["noise"] += word is None and bool(facts)
        rows.append(row)
    return rows


def transfers(programs, models, broken):
    """What one model wrote, another is given, in both directions; and sessions in between."""
    rows = []
    for (one, one_url), (other, other_url) in [(models[0], models[1]), (models[1], models[0])]:
        row = {"from": one, "to": other, "cases": 0, "formed": 0, "given": 0, "answered": 0}
        for what, said, question, part in TRANSFERS:
            with tempfile.TemporaryDirectory() as folder:
                world = World(programs, pathlib.Path(folder))
                try:
                    world.switch(one, one_url)
                    formed = [one for text in said for one in world.add(text).get("results", [])]
                    world.switch(other, other_url)
                    check(world, row, (what, question, part, formed), models, broken)
                finally:
                    world.stop()
        rows.append(row)
    # One memory, and ten and twenty sessions after it, with the models by turns.
    for between in (10, 20):
        with tempfile.TemporaryDirectory() as folder:
            world = World(programs, pathlib.Path(folder))
            row = {"from": models[0][0], "to": f"{models[1][0]}, after {between} sessions", "cases": 0, "formed": 0, "given": 0, "answered": 0}
            try:
                world.switch(*models[0])
                formed = world.add("I am allergic to nuts.").get("results", [])
                for session in range(between):
                    if session % 5 == 0:
                        world.switch(*models[(session // 5 + 1) % 2])
                    world.add(BETWEEN[session % len(BETWEEN)])
                world.switch(*models[1])
                case = (f"after {between} sessions", "am I allergic to nuts?", "nuts", formed)
                check(world, row, case, models, broken)
            finally:
                world.stop()
            rows.append(row)
    return rows


def check(world, row, case, models, broken):
    what, question, part, formed = case
    is_formed = any(part.lower() in one["memory"].lower() for one in formed)
    answer = world.ask(question)
    turns = answer["data"]["turns"] if "turns" in answer.get("data", {}) else [answer.get("data", answer)]
    turn = turns[-1]
    row["cases"] += 1
    row["formed"] += is_formed
    given = any(part.lower() in one["entry"]["text"].lower() for one in turn["given"])
    row["given"] += given
    row["answered"] += part.lower() in turn["answer"].lower()
    outcome = "given" if given else "NOT GIVEN" if is_formed else "not formed"
    print(f"{row['from']} to {row['to']}, {what}: {outcome}", flush=True)
    if is_formed and not given:
        broken.append(f"{row['from']} to {row['to']}, {what}: not given: {turn['given']}")
    for file in world.brains.rglob("*"):
        if not file.is_file():
            continue
        held = file.read_bytes().lower()
        for name, url in models:
            for word in (name, url.split("//")[1], "gguf", "openai", "smollm", "gemma"):
                if word.lower().encode() in held:
                    broken.append(f"{file.name} has {word}")


def table(rows):
    keys = list(rows[0])
    cells = [keys] + [[f"{row[key]:.1f}" if isinstance(row[key], float) else str(row[key]) for key in keys] for row in rows]
    widths = [max(len(line[at]) for line in cells) for at in range(len(keys))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--model", action="append", required=True, metavar="NAME=URL")
    parser.add_argument("--prompt", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    asked = parser.parse_args()
    models = [tuple(one.split("=", 1)) for one in asked.model]
    if len(models) != 2:
        parser.error("name two models")
    prompt = asked.prompt.read_text(encoding="utf-8") if asked.prompt else None
    broken, told = [], {}
    told["ladder"], told["formation"] = [], []
    for name, url in models:
        with tempfile.TemporaryDirectory() as folder:
            world = World(asked.programs, pathlib.Path(folder))
            try:
                rows, form = ladder(world, name, url)
                told["ladder"] += rows
                print(f"{name}: form {form or 'none; patterns find more'}", flush=True)
                told["formation"] += formation(world, name, url, prompt)
            finally:
                world.stop()
    table(told["ladder"])
    table(told["formation"])
    told["transfers"] = transfers(asked.programs, models, broken)
    table(told["transfers"])
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1), encoding="utf-8")
    for line in broken:
        print(f"BROKEN  {line}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
