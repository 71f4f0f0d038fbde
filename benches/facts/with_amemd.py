"""amemd by gRPC, over the Unix socket of a private daemon: FactService with the stubs that protoc generates."""
import os
import pathlib
import subprocess
import time

import grpc
from amem.v1 import fact_pb2, fact_pb2_grpc, selection_pb2

import memories
from measure import Wrong

PATIENCE_SECS = 10
HITS_MAX = 10


class System:
    def __init__(self, folder, options):
        self.folder = pathlib.Path(folder)
        self.program = options["program"]

    def __enter__(self):
        brains, socket, log = self.folder / "brains", self.folder / "run" / "amemd.sock", self.folder / "amemd.log"
        brains.mkdir(mode=0o700)
        # The daemon reads no configuration and no variables but these.
        variables = {name: value for name, value in os.environ.items() if not name.startswith("AMEMD_")}
        variables["XDG_CONFIG_HOME"] = str(self.folder)
        with open(log, "w", encoding="utf-8") as file:
            command = [self.program, "--folder", brains, "--socket", socket]
            self.daemon = subprocess.Popen(command, stderr=file, env=variables)
        until = time.monotonic() + PATIENCE_SECS
        while not socket.exists():
            if self.daemon.poll() is not None or time.monotonic() > until:
                self.daemon.kill()
                self.daemon.wait()
                raise Wrong("amemd does not start: " + log.read_text(encoding="utf-8"))
            time.sleep(0.01)
        self.channel = grpc.insecure_channel(f"unix:{socket}")
        self.facts = fact_pb2_grpc.FactServiceStub(self.channel)
        return self

    def __exit__(self, *_):
        self.channel.close()
        self.daemon.terminate()
        try:
            self.daemon.wait(PATIENCE_SECS)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
            raise

    def _add(self, scope, texts, infer):
        messages = [fact_pb2.FactMessage(role=fact_pb2.FACT_ROLE_USER, text=text) for text in texts]
        of = selection_pb2.Scope(user=scope)
        answer = self.facts.AddFacts(fact_pb2.AddFactsRequest(messages=messages, scope=of, infer=infer))
        if answer.pending or answer.rejected or answer.skipped:
            raise Wrong(f"not everything was stored: {answer}")
        return [result.id for result in answer.results if result.event == fact_pb2.FACT_EVENT_ADD]

    def load(self, part):
        return self._add(part[0].scope, [one.text for one in part], infer=False)

    def add(self, one):
        return self._add(one.scope, [one.text], infer=False)

    def search(self, one):
        of = selection_pb2.Scope(user=one.scope)
        asked = fact_pb2.SearchFactsRequest(query=one.question(), scope=of, limit=HITS_MAX)
        return [hit.fact.memory for hit in self.facts.SearchFacts(asked).hits]

    def get(self, id):
        return self.facts.GetFact(fact_pb2.GetFactRequest(id=id)).fact.memory

    def more(self, added):
        """Adds in which the patterns find the facts."""
        def found(ids):
            if not ids:
                raise Wrong("the patterns found no fact in a sentence made for them")

        scopes = list(dict.fromkeys(one.scope for one in added))
        said = memories.said(len(added), scopes)
        return {"add, patterns": (
            (lambda scope=scope, text=text: self._add(scope, [text], infer=True), found) for scope, text in said)}
