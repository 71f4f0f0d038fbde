"""What agents are shown: conversations sent in by the doors that agents use, and asked through them.

Chats with an assistant come by the hook of a client (`POST /hooks/claude-code`), conversations of people by `AddFacts`, each
conversation a project; questions go to the tool `recall` in RECALL_TOKENS and to the hook of a prompt. A turn is shown if
words of it stand there in a row, or a memory whose words are the turn's. Coding sessions and single sentences share one
project with all chats: the share of the answer's words that is shown, and answers shown of questions that have none.
"""
import datetime
import http.client
import json
import re
import socket
import sys
import time
from collections import defaultdict

import contexts
import rows

RECALL_TOKENS = 500
# Words of a turn that stand in a row where it is shown; a shorter turn stands there whole.
RUN_WORDS = 8
# A memory is of a turn if this share of its words, and so many at least, are the turn's.
MEMORY_SHARE, MEMORY_WORDS = 0.8, 3
CLIENT = "claude-code"
SHARED_PROJECT = "acme/everything"
# In per cent: recall, prompt hook.
GOALS = {
    "beam-dev.json": (58.0, 40.0),
    "locomo-dev.json": (72.0, 50.0),
    "coding": (75.0, 60.0),
    "sentences": (100.0, 91.6),
    "unrelated": (5.0, 5.0),
}
# Questions whose evidence no context can hold, or that have none.
LEFT_OUT = {"abstention", "summarization"}
STOP = set("a an and are as at be by did do does for from had has have how i in is it its me my of on or our s t that the "
           "their they this to up us was we were what when where which who why will with you your".split())


class Doors:
    """Calls over the daemon's HTTP listener, a Unix socket."""

    def __init__(self, bench):
        self.path = bench.http
        self.sessions = 0

    def post(self, path, body, project=None):
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream",
                   "mcp-protocol-version": "2025-11-25"}
        if project:
            headers["x-amem-project"] = project
        connection = http.client.HTTPConnection("localhost", timeout=120)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.path))
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status >= 300:
            sys.exit(f"{path}: {answer.status} {text}")
        return json.loads(text) if text else {}

    def hook(self, event, session, project, **more):
        body = {"hook_event_name": event, "session_id": session, **more}
        answer = self.post(f"/hooks/{CLIENT}", body, project)
        return answer.get("hookSpecificOutput", {}).get("additionalContext", "")

    def chat(self, project, session, messages):
        """Messages are triples of role, text and seconds since 1970."""
        for at in range(0, len(messages), 50):
            part = [
                {"id": f"{session}-{at + place}", "role": role, "text": text, "time": int(1000 * when) + at + place}
                for place, (role, text, when) in enumerate(messages[at:at + 50])
            ]
            self.hook("Stop", session, project, messages=part)

    def talk(self, project, messages):
        """Messages are triples of name, text and time; one session."""
        for at in range(0, len(messages), 50):
            part = [
                {"role": "FACT_ROLE_USER", "name": name, "text": text, "time": when}
                for name, text, when in messages[at:at + 50]
            ]
            self.post("/v1/brains/memories/add-facts", {"messages": part, "scope": {"app": project}})

    def recall(self, project, question):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "recall", "arguments": {"query": question, "max_tokens": RECALL_TOKENS}}}
        return self.post("/mcp", call, project)["result"]["content"][0]["text"]

    def prompt(self, project, question):
        self.sessions += 1
        return self.hook("UserPromptSubmit", f"asked-{self.sessions}", project, prompt=question)


def words(text):
    return re.findall(r"[^\W_]+", text.lower())


def lines_of(text):
    """The lines of an answer, without its head and without what brings a line: id, kind, day, speaker."""
    lines = [line for line in text.split("\n")[1:] if line.strip()]
    return [words(line) for line in lines]


def is_shown(turn, lines):
    wanted = words(turn)
    if not wanted:
        return False
    length = min(RUN_WORDS, len(wanted))
    runs = {tuple(wanted[at:at + length]) for at in range(len(wanted) - length + 1)}
    stems = {word[:5] for word in wanted}
    for line in lines:
        if any(tuple(line[at:at + length]) in runs for at in range(len(line) - length + 1)):
            return True
        own = [word for word in line if word not in STOP and not word.isdigit()]
        # The words that bring a line count against it: a memory is short.
        same = sum(word[:5] in stems for word in own)
        if same >= MEMORY_WORDS and same >= MEMORY_SHARE * len(own):
            return True
    return False


def seconds(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


def tell(doors, file, conversations):
    for name, conversation in conversations.items():
        sessions = defaultdict(list)
        for turn in conversation["turns"]:
            sessions[turn["session"]].append(turn)
        for session, turns in sessions.items():
            if {turn["speaker"] for turn in turns} <= {"user", "assistant"}:
                said = [(turn["speaker"], turn["text"], seconds(turn["time"])) for turn in turns]
                doors.chat(f"{file.stem}/{name}", f"{name}-{session}", said)
                doors.chat(SHARED_PROJECT, f"{name}-{session}-shared", said)
            else:
                said = [(turn["speaker"], turn["text"], turn["time"] + "Z") for turn in turns]
                doors.talk(f"{file.stem}/{name}", said)


def conversations_shown(doors, file, conversations):
    for name, ask, goal in (("recall", doors.recall, 0), ("prompt", doors.prompt, 1)):
        scored, tokens, began = [], [], time.monotonic()
        for conv, conversation in conversations.items():
            turns = {turn["id"]: turn["text"] for turn in conversation["turns"]}
            wanted = contexts.questions_of({conv: conversation})
            for question in wanted.values():
                if question["category"] in LEFT_OUT:
                    continue
                text = ask(f"{file.stem}/{conv}", question["question"])
                tokens.append(len(text) / 4)
                lines = lines_of(text)
                evidence = [turns[one] for one in question["evidence"] if one in turns]
                share = sum(is_shown(turn, lines) for turn in evidence) / max(1, len(question["evidence"]))
                scored.append((str(question["category"]), share))
        each = 1000 * (time.monotonic() - began) / max(1, len(scored))
        note = f"{sum(tokens) / max(1, len(tokens)):.0f} tokens, {each:.1f} ms"
        goals = {"overall": GOALS.get(file.name, (None, None))[goal]}
        yield from rows.by_category(f"{file.stem} {name}", scored, goals, note)


def share_of_words(answer, text):
    wanted = {word for word in words(answer) if len(word) > 1 and word not in STOP}
    return len(wanted & set(words(text))) / max(1, len(wanted))


def coding_sessions(doors, folder):
    data = json.loads((folder / "recall/coding-sessions.json").read_text(encoding="utf-8"))
    for session in data["sessions"]:
        when = seconds(session["metadata"]["date"])
        said = [(one["role"], one["content"], when + 60 * at) for at, one in enumerate(session["messages"])]
        doors.chat(SHARED_PROJECT, session["sessionId"], said)
    for name, ask, goal in (("recall", doors.recall, 0), ("prompt", doors.prompt, 1)):
        scored, silent = [], []
        for question in data["questions"]:
            text = ask(SHARED_PROJECT, question["question"])
            if question["questionType"] == "abstention":
                lines = [line for line in text.split("\n")[1:] if line.strip().startswith("[e")]
                silent.append(float(any("weak" not in line for line in lines)))
            else:
                scored.append((question["questionType"], share_of_words(question["groundTruth"], text)))
        yield from rows.by_category(f"coding {name}", scored, {"overall": GOALS["coding"][goal]})
        yield rows.Row(f"coding {name} without an answer", silent, 25.0, most=True)


def sentences(doors, folder):
    data = json.loads((folder / "recall/project-sentences.json").read_text(encoding="utf-8"))
    doors.chat(SHARED_PROJECT, "sentences", [("user", text, time.time()) for text in data["said"]])
    for name, ask, goal in (("recall", doors.recall, 0), ("prompt", doors.prompt, 1)):
        found = [
            float(question["answer_contains"].lower() in ask(SHARED_PROJECT, question["question"]).split("\n", 1)[-1].lower())
            for question in data["questions"]
        ]
        yield rows.Row(f"sentences {name}", found, GOALS["sentences"][goal])


def unrelated(doors, folder, project):
    prompts = json.loads((folder / "search/unrelated-prompts.json").read_text(encoding="utf-8"))["prompts"]
    got = [float(bool(doors.prompt(project, prompt["text"]))) for prompt in prompts]
    yield rows.Row(f"unrelated prompt in {project}", got, GOALS["unrelated"][1], most=True)


def measure(bench, data, _options):
    doors = Doors(bench)
    folder = data[0][0].parent
    for file, conversations in data:
        began = time.monotonic()
        tell(doors, file, conversations)
        print(f"{file.stem}: told in {time.monotonic() - began:.1f} s", flush=True)
    for file, conversations in data:
        yield from conversations_shown(doors, file, conversations)
    if not (folder / "recall/coding-sessions.json").is_file():
        return
    yield from sentences(doors, folder)
    yield from coding_sessions(doors, folder)
    for project in (f"{data[0][0].stem}/{next(iter(data[0][1]))}", SHARED_PROJECT):
        yield from unrelated(doors, folder, project)
