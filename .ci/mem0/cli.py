"""Drives mem0's command-line clients, unmodified, against a daemon: `cli.py PROGRAM…`. One line a command."""
import json
import os
import subprocess
import sys
import tempfile

# They ask for news of their maker when they start; none is there.
ENVIRONMENT = dict(os.environ, NO_COLOR="1", MEM0_BASE_URL=os.environ["AMEM_HTTP"], MEM0_API_KEY=os.environ["AMEM_TOKEN"])


def run(program, *arguments):
    done = subprocess.run([program, *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"exit {done.returncode}: {(done.stderr or done.stdout)[-300:]}")
    return done.stdout


def entries(program, *arguments):
    answer = json.loads(run(program, "--json", *arguments))
    found = answer["data"]
    return found.get("results", found) if isinstance(found, dict) else found


def commands(program, user):
    """Each command with what must be so."""
    of = ("--user-id", user)

    def holds(condition, what):
        if not condition:
            raise AssertionError(what)

    def added():
        holds(entries(program, "add", "I prefer tea over coffee", *of)[0]["event"] == "ADD", "nothing was added")

    def found():
        hits = entries(program, "search", "tea", *of)
        holds("tea" in hits[0]["memory"], hits)

    def first():
        return entries(program, "list", *of)[0]["id"]

    def updated():
        one = first()
        run(program, "update", one, "I prefer green tea")
        holds("green" in run(program, "get", one), "the memory is as it was")

    def imported():
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump([{"memory": "My dog is called Rex", "user_id": user}], file)
            file.flush()
            run(program, "import", file.name, *of)
        holds(any("Rex" in one["memory"] for one in entries(program, "list", *of)), "it is not there")

    def deleted():
        one = first()
        run(program, "delete", one, "--force")
        holds(all(other["id"] != one for other in entries(program, "list", *of)), "it is still there")

    def emptied():
        run(program, "delete", "--all", *of, "--force")
        holds(not entries(program, "list", *of), "memories are left")

    return [
        ("status", lambda: holds("127.0.0.1" in run(program, "status"), "it names no server")),
        ("add", added),
        ("search", found),
        ("list", first),
        ("get, update", updated),
        ("import", imported),
        ("entity list", lambda: holds(user in run(program, "entity", "list", "users"), "the user is not listed")),
        ("event list", lambda: holds("ADD" in run(program, "event", "list"), "no event is listed")),
        ("delete", deleted),
        ("delete --all", emptied),
    ]


failed = False
for number, program in enumerate(sys.argv[1:]):
    for name, command in commands(program, f"cli-{number}"):
        try:
            command()
            print(f"ok      {name}")
        except (AssertionError, subprocess.TimeoutExpired, KeyError, IndexError, ValueError) as why:
            failed = True
            print(f"FAILED  {name}: {why}")
sys.exit(failed)
