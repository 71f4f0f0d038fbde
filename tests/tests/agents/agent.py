"""One agent of a crowd in Python, with the package of `clients/python` as a user has it: it does what `amem-agent` does
(tests/support/bin/agent), and notes it in the same files and words (tests/support/agents.rs).

    python agent.py NUMBER SOCKET BRAIN FOLDER RATE
"""

import collections
import os
import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from amemd import ConditionFailed, If, Refused, connect, new_request_id

THE_END = "the end"
MEET = " to be met"
#: Events that are kept in mind.
KEPT = 64
#: Verbs that make an event.
EVENTS = ("add", "correct", "careful", "settle")


class Noted:
    """A file of notes: a line is noted when `write` has returned, whatever becomes of the process."""

    def __init__(self, path):
        self.file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        whole = b""
        while part := os.read(self.file, 1 << 20):
            whole += part
        whole = whole[: whole.rfind(b"\n") + 1]
        os.ftruncate(self.file, len(whole))
        #: What was noted before.
        self.lines = whole.decode().splitlines()

    def write(self, *parts):
        os.write(self.file, ("\t".join(map(str, parts)) + "\n").encode())


class Agent:
    def __init__(self, number, socket, brain, folder):
        self.number, self.name = number, f"agent-{number}"
        self.brain = connect(socket, agent=self.name).brain(brain)
        self.acts, self.seen = (Noted(f"{folder}/{what}-{number}") for what in ("acts", "seen"))
        begun = [line.split("\t") for line in self.acts.lines if line.startswith("begin\t")]
        self.count = len(begun)
        was_answered = self.acts.lines and self.acts.lines[-1].split("\t")[0] != "begin"
        self.pending = begun[-1][1:] if begun and not was_answered else None
        after_lsn = int(self.seen.lines[-1].split("\t")[1]) if self.seen.lines else 0
        self.commits = self.brain.subscribe(after_lsn=after_lsn)
        self.recent = collections.deque(maxlen=KEPT)
        self.to_meet = collections.deque()
        #: The event that was last corrected together with others.
        self.met = None
        self.session = 0
        self.pool = ThreadPoolExecutor(2)

    # What it sees.

    def follow(self):
        for commit in self.commits:
            delay = time.time_ns() // 1000 - commit.time_micros
            holds = " | ".join(holds_of(change) for change in commit.changes)
            who = (commit.agent, commit.principal)
            self.seen.write(delay, commit.lsn, commit.time_micros, commit.kind, *who, holds)
            for change in commit.changes:
                if change.kind != "event":
                    continue
                if change.event.text == THE_END:
                    self.commits.close()
                    return
                if commit.agent == self.name:
                    continue
                self.recent.append(change.event_id)
                if change.event.text.endswith(MEET) and self.number % 4 == change.event_id % 4:
                    self.to_meet.append(change.event_id)

    # What it writes.

    def begin(self):
        # An agent that comes back has another key, and leaves its earlier session as it is.
        self.session = self.brain.open_session(f"{self.name}-{self.count}" if self.count else self.name)
        if self.pending is not None:
            request_id, session, verb, ends, text = self.pending
            self.send(request_id, int(session), verb, ends, text)

    def end(self):
        self.brain.close_session(self.session, "done")

    def next(self):
        verb, ends = self.choose()
        text = f"{self.name} says {self.count}" if verb in EVENTS else ""
        if verb == "add" and self.count % 16 == 0:
            text += MEET
        request_id = new_request_id()
        self.acts.write("begin", request_id, self.session, verb, ends, text)
        self.count += 1
        self.send(request_id, self.session, verb, ends, text)

    def choose(self):
        """What is next: events to be met come first, then it goes around."""
        if self.to_meet:
            self.met = self.to_meet.popleft()
            return "correct", str(self.met)
        recent = list(self.recent)
        if not recent:
            return "add", ""
        one, other = (recent[(self.count * 7 + salt * 31) % len(recent)] for salt in (self.number, 5))
        turn = self.count % 8
        if turn == 1:
            return "correct", str(one)
        if turn == 3 and one != other:
            kind = "contradicts" if self.count % 16 == 3 else "supports"
            return "link", f"{one},{kind},{other}"
        if turn == 5:
            return "careful", str(self.brain.resolve(one).head.id)
        if turn == 7 and self.met is not None:
            met, self.met = self.met, None
            resolved = self.brain.resolve(met) if met % 3 == 0 else None
            if resolved is not None and resolved.contested:
                return "settle", ",".join(str(head.id) for head in resolved.heads)
        return "add", ""

    def send(self, request_id, session, verb, ends, text):
        """Sends it, and some again: the answer must be the same."""

        def once():
            return self.once(request_id, session, verb, ends, text)

        second = None
        if self.count % 7 == 0:
            first, second = self.pool.submit(once), self.pool.submit(once)
            first = first.result
        else:
            first = once
        try:
            answer = first()
        except Refused as refusal:
            expected = refusal.reason == "SESSION_CLOSED" or verb == "careful" and isinstance(refusal, ConditionFailed)
            if not expected:
                raise
            self.acts.write("refused", request_id, refusal.reason)
            return
        self.acts.write("done", request_id, answer)
        if second is not None:
            self.acts.write("again", request_id, second.result())
        elif self.count % 5 == 0:
            self.acts.write("again", request_id, once())

    def once(self, request_id, session, verb, ends, text):
        brain = self.brain
        if verb == "add":
            return brain.add("fact", text, session=session, request_id=request_id)
        if verb == "settle":
            heads = [int(head) for head in ends.split(",")]
            return brain.add("fact", text, session=session, supersedes=heads, request_id=request_id)
        if verb == "link":
            source, kind, target = ends.split(",")
            brain.link(int(source), kind, int(target), request_id=request_id)
            return 0
        target = int(ends)
        only_if = If(head=(target, target)) if verb == "careful" else None
        return brain.correct(target, text, session=session, only_if=only_if, request_id=request_id)

    # The answer in the end.

    def ask(self, folder):
        with open(f"{folder}/asked-{self.number}", "w", encoding="utf-8") as asked:
            for conflict in self.brain.conflicts(limit=None):
                ids = [event.id for event in conflict.events]
                if conflict.belief is None:
                    print("contradiction", *ids, file=asked)
                else:
                    print("contested", conflict.belief.id, ids, file=asked)


def holds_of(change):
    """A change as words of a line."""
    if change.kind == "event":
        event = change.event
        return f"event {event.id} {event.type} {event.session} {event.text}"
    if change.kind == "edge":
        edge = change.edge
        return f"edge {edge.source} {edge.type} {edge.target} {edge.weight:.3f}"
    if change.kind == "belief":
        return f"belief {change.event_id} {change.values['confidence']:.3f}"
    if change.kind == "touch":
        return "touch" + "".join(f" {event}x{count}" for event, count in change.uses.items())
    if change.kind == "session-opened":
        return f"session-opened {change.session} {change.values['key']}"
    if change.kind == "session-closed":
        return f"session-closed {change.session} {change.values['outcome']}"
    return "other"


def say(word):
    print(word, flush=True)


def main(number, socket, brain, folder, rate):
    agent = Agent(int(number), socket, brain, folder)
    failed = []

    def follow():
        try:
            agent.follow()
        except BaseException as error:
            failed.append(error)

    following = threading.Thread(target=follow, daemon=True)
    following.start()
    told = queue.Queue()

    def listen():
        for line in sys.stdin:
            told.put(line.strip())
        told.put("nobody is there any more")

    threading.Thread(target=listen, daemon=True).start()
    say("ready")
    assert told.get() == "go"
    agent.begin()
    pause = 1 / float(rate)
    while True:
        began = time.monotonic()
        agent.next()
        try:
            assert told.get(timeout=max(pause - (time.monotonic() - began), 0.0001)) == "stop"
            break
        except queue.Empty:
            pass
    agent.end()
    say("stopped")
    following.join()
    if failed:
        raise failed[0]
    agent.ask(folder)
    say("asked")


if __name__ == "__main__":
    main(*sys.argv[1:])
