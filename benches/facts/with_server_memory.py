"""The memory server of the Model Context Protocol, by JSON-RPC over the standard streams of node.

A memory is an entity with one observation, and opening the node by its name is the get. It has neither scopes nor
ranks: a search goes through everything, for a substring, so it is given the phrase and not the question.
"""
import json
import os
import pathlib
import subprocess

from measure import Wrong

PROTOCOL = "2025-06-18"


class System:
    def __init__(self, folder, options):
        self.folder = pathlib.Path(folder)
        self.command = ["node", options["script"]]
        self.asked = 0

    def __enter__(self):
        variables = {**os.environ, "MEMORY_FILE_PATH": os.fspath(self.folder / "memory.jsonl")}
        # Its stderr is that of this process, which the caller keeps.
        self.server = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables, encoding="utf-8")
        about = {"name": "benches", "version": "1"}
        try:
            self._call("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": about})
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # Not every version ends with its input.
        self.server.terminate()
        self.server.communicate()

    def _send(self, message):
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()

    def _call(self, method, parameters):
        self.asked += 1
        self._send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": parameters})
        while True:
            line = self.server.stdout.readline()
            if not line:
                raise Wrong(f"the server ended during {method}")
            answer = json.loads(line)
            # Notifications have no id.
            if answer.get("id") == self.asked:
                break
        if "error" in answer or answer["result"].get("isError"):
            raise Wrong(f"{method} failed: {line.strip()}")
        return answer["result"]

    def _tool(self, name, **arguments):
        return self._call("tools/call", {"name": name, "arguments": arguments})["structuredContent"]

    def load(self, part):
        entities = [{"name": one.name, "entityType": one.scope, "observations": [one.text]} for one in part]
        return [entity["name"] for entity in self._tool("create_entities", entities=entities)["entities"]]

    def add(self, one):
        return self.load([one])

    def search(self, one):
        return [text for entity in self._tool("search_nodes", query=one.phrase)["entities"]
                for text in entity["observations"]]

    def get(self, id):
        return self._tool("open_nodes", names=[id])["entities"][0]["observations"][0]

    def more(self, added):
        """The other way to add: an observation to an entity that is there."""
        def new(results):
            if not results[0]["addedObservations"]:
                raise Wrong("an observation was not added")

        return {"add_observations": (
            (lambda one=one: self._tool("add_observations", observations=[
                {"entityName": one.name, "contents": [f"{one.text}, still"]}])["results"], new) for one in added)}
