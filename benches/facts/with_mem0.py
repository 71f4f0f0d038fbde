"""mem0 in this process, as its package installs: its default vector store, Qdrant's local mode, in a folder.

Its embedder is ours, through its provider `langchain`: words hashed to a vector, which costs next to nothing. Its model
is never called, because nothing is inferred; the key is there because its client wants one.
"""
import hashlib
import os
import pathlib
import re

from langchain.embeddings.base import Embeddings
from mem0 import Memory

import mem0.memory.telemetry
from measure import Wrong

DIMENSION = 256
HITS_MAX = 10
WORD = re.compile(r"\w+")


class HashedWords(Embeddings):
    """A vector of unit length; each word adds one at a place that its hash gives."""

    def embed_query(self, text):
        vector = [0.0] * DIMENSION
        for word in WORD.findall(text.lower()):
            vector[int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "little") % DIMENSION] += 1.0
        length = sum(value * value for value in vector) ** 0.5 or 1.0
        return [value / length for value in vector]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


class System:
    def __init__(self, folder, options):
        self.folder = pathlib.Path(folder)

    def __enter__(self):
        if mem0.memory.telemetry.MEM0_TELEMETRY:
            raise Wrong("mem0's telemetry is on: it would be part of the times")
        store = {"path": os.fspath(self.folder / "qdrant"), "on_disk": True, "embedding_model_dims": DIMENSION}
        self.memory = Memory.from_config({
            "vector_store": {"provider": "qdrant", "config": {"collection_name": "facts", **store}},
            "embedder": {"provider": "langchain", "config": {"model": HashedWords(), "embedding_dims": DIMENSION}},
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "history_db_path": os.fspath(self.folder / "history.db"),
        })
        return self

    def __exit__(self, *_):
        self.memory.close()
        self.memory.vector_store.client.close()

    def _add(self, scope, texts):
        messages = [{"role": "user", "content": text} for text in texts]
        return [result["id"] for result in self.memory.add(messages, user_id=scope, infer=False)["results"]]

    def load(self, part):
        return self._add(part[0].scope, [one.text for one in part])

    def add(self, one):
        return self._add(one.scope, [one.text])

    def search(self, one):
        answer = self.memory.search(one.question(), filters={"user_id": one.scope}, top_k=HITS_MAX)
        return [hit["memory"] for hit in answer["results"]]

    def get(self, id):
        return self.memory.get(id)["memory"]

    def more(self, added):
        return {}
