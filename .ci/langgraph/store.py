"""LangGraph's store on amemd: its SDK over HTTP, sync and async, and `AmemStore` beside its own `InMemoryStore`. One line a check."""

import asyncio
import os
import random
import time
import uuid
from datetime import datetime, timedelta
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore
from langgraph.store.memory import InMemoryStore
from langgraph_sdk import get_client, get_sync_client

from amemd import Refused, connect
from amemd.langgraph import AmemStore

HOST, TOKEN, SOCKET = os.environ["AMEM_HTTP"], os.environ["AMEM_TOKEN"], os.environ["AMEM_SOCKET"]
FAILED = []


def check(test):
    """Runs a check and tells its outcome."""
    try:
        outcome = test()
        if asyncio.iscoroutine(outcome):
            asyncio.run(outcome)
        print(f"{test.__name__:60} ok")
    except Exception as error:
        FAILED.append(test.__name__)
        print(f"{test.__name__:60} FAILED: {type(error).__name__}: {error}")


CLIENT = connect(f"unix:{SOCKET}", agent="langgraph")


def store(**options):
    name = "store-" + uuid.uuid4().hex[:8]
    CLIENT.brain(name, create=True)
    return AmemStore(CLIENT, name, **options)


def raises(kind, work):
    try:
        work()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


@check
def an_item_is_put_got_changed_and_deleted():
    own = store()
    place = ("users", "ada")
    assert own.get(place, "home") is None
    own.put(place, "home", {"city": "Porto", "n": 1})
    first = own.get(place, "home")
    assert first.value == {"city": "Porto", "n": 1} and first.namespace == place and first.key == "home"
    assert abs(datetime.now(first.created_at.tzinfo) - first.created_at) < timedelta(seconds=20)
    own.put(place, "home", {"city": "Rome"})
    second = own.get(place, "home")
    assert second.value == {"city": "Rome"} and second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    own.delete(place, "home")
    assert own.get(place, "home") is None
    own.delete(place, "home")
    own.put(place, "home", {"city": "Rome"})
    own.batch([PutOp(place, "home", None)])
    assert own.search(place) == []


@check
def a_batch_reads_before_it_changes_and_keeps_the_order():
    own, theirs = store(), InMemoryStore()
    seed = [PutOp(("a",), f"k{n}", {"n": n}) for n in range(3)]
    ops = [
        GetOp(("a",), "k0"),
        PutOp(("a",), "k0", {"n": 10}),
        SearchOp(("a",), filter={"n": {"$gte": 1}}),
        GetOp(("a",), "k0"),
        PutOp(("a",), "k0", {"n": 11}),
        ListNamespacesOp(None, None, 10, 0),
        PutOp(("b",), "k", {"n": 5}),
        GetOp(("b",), "k"),
    ]

    def shape(results):
        def one(result):
            if isinstance(result, list):
                return sorted(one(item) if hasattr(item, "key") else item for item in result)
            return (result.key, result.value["n"]) if result else None

        return [one(result) for result in results]

    for each in (own, theirs):
        each.batch(seed)
    assert shape(own.batch(ops)) == shape(theirs.batch(ops))
    again = ops[:1] + ops[2:4] + ops[5:6]
    assert shape(own.batch(again)) == shape(theirs.batch(again))
    assert shape(asyncio.run(own.abatch(ops))) == shape(asyncio.run(theirs.abatch(ops)))
    assert own.batch([]) == []
    many = [PutOp(("m",), f"k{n}", {"n": n, "text": "x" * 5000}) for n in range(1500)]
    assert own.batch(many) == [None] * 1500
    assert len(own.search(("m",), limit=2000)) == 1500
    found = own.batch([SearchOp(("m",), limit=900), GetOp(("m",), "k7"), PutOp(("m",), "k7", None)])
    assert len(found[0]) == 900 and found[1].value["n"] == 7 and own.get(("m",), "k7") is None


@check
def random_operations_equal_those_of_their_store():
    own, theirs = store(), InMemoryStore()
    places = [("a",), ("a", "b"), ("a", "b", "c"), ("d",), ("d", "b"), ("é x", "*y")]
    chance = random.Random(7)

    def filters():
        n, word = chance.randrange(5), chance.choice("pqr")
        return chance.choice(
            [
                None,
                {"n": n},
                {"w": word},
                {"n": {"$gt": n}},
                {"n": {"$gte": n, "$lt": n + 2}},
                {"n": {"$lte": n}, "w": {"$ne": word}},
                {"o": {"x": 1}},
                {"o": {"$eq": {"x": 1, "y": [1, 2]}}},
                {"l": [1, word]},
                {"z": None},
            ]
        )

    def value():
        made = {"n": chance.randrange(5), "w": chance.choice("pqr")}
        if chance.random() < 0.3:
            made["o"] = {"x": chance.randrange(2), "y": [1, 2]}
        if chance.random() < 0.3:
            made["l"] = [1, chance.choice("pqr")]
        if chance.random() < 0.2:
            made["z"] = chance.choice([None, True, 1.5])
        return made

    def shown(items):
        return sorted((item.namespace, item.key, repr(item.value)) for item in items)

    for step in range(400):
        place, key = chance.choice(places), f"k{chance.randrange(4)}"
        what = chance.randrange(6)
        if what < 2:
            put = value()
            for each in (own, theirs):
                each.put(place, key, put)
        elif what == 2:
            for each in (own, theirs):
                each.delete(place, key)
        elif what == 3:
            a, b = own.get(place, key), theirs.get(place, key)
            assert (a and a.value) == (b and b.value), (step, place, key)
        elif what == 4:
            prefix, asked = chance.choice([(), *places]), filters()
            a = own.search(prefix, filter=asked, limit=100)
            b = theirs.search(prefix, filter=asked, limit=100)
            assert shown(a) == shown(b), (step, prefix, asked)
            size, skip = chance.randrange(1, 4), chance.randrange(4)
            part = own.search(prefix, filter=asked, limit=size, offset=skip)
            assert shown(part) == shown(a[skip : skip + size]), (step, prefix, asked)
        else:
            pattern = {
                "prefix": chance.choice([None, ("a",), ("*", "b"), ("d", "*")]),
                "suffix": chance.choice([None, ("b",), ("*",)]),
                "max_depth": chance.choice([None, None, 1, 2]),
            }
            # Theirs keeps namespaces whose items are all deleted.
            for empty in [name for name, items in theirs._data.items() if not items]:
                del theirs._data[empty]
            a, b = own.list_namespaces(**pattern), theirs.list_namespaces(**pattern)
            assert a == b, (step, pattern, a, b)


@check
def several_conditions_on_namespaces_all_hold():
    own, theirs = store(), InMemoryStore()
    for each in (own, theirs):
        for name in [("a", "b", "c"), ("a", "x", "c"), ("b", "b", "c"), ("a", "b", "d")]:
            each.put(name, "k", {})
    op = ListNamespacesOp(
        match_conditions=(
            MatchCondition("prefix", ("a",)),
            MatchCondition("prefix", ("*", "b")),
            MatchCondition("suffix", ("c",)),
        )
    )
    assert own.batch([op]) == theirs.batch([op]) == [[("a", "b", "c")]]
    assert own.batch([op, GetOp(("a", "b", "c"), "k")])[0] == [("a", "b", "c")]


@check
def words_rank_what_is_indexed():
    own = store(fields=["text"])
    place = ("docs",)
    own.put(place, "ferry", {"text": "the ferry to Zanzibar leaves at noon", "other": "walnut"})
    own.put(place, "tea", {"text": "tea is served at five"})
    own.put(place, "hidden", {"text": "the ferry to Zanzibar"}, index=False)
    own.put(place, "titled", {"text": "nothing", "notes": [{"title": "walnut shelf"}]}, index=["notes[*].title"])
    found = own.search(place, query="when does the ferry to Zanzibar leave")
    assert found[0].key == "ferry" and 0.3 < found[0].score <= 1, found
    scores = {item.key: item.score for item in found}
    assert len(found) == 4 and scores["hidden"] is None
    assert own.search(place, query="walnut")[0].key == "titled"
    assert own.search(place, query="ferry", filter={"text": "tea is served at five"})[0].key == "tea"
    assert len(own.search(place, query="ferry", limit=1)) == 1
    assert own.search(place)[0].score is None


@check
def a_time_to_live_ends_and_begins_again():
    own = store(ttl={"default_ttl": 0.05, "refresh_on_read": False})
    place = ("short",)
    own.put(place, "default", {})
    own.put(place, "long", {}, ttl=5)
    own.put(place, "ever", {}, ttl=None)
    own.put(place, "read", {})
    time.sleep(2)
    assert own.get(place, "read", refresh_ttl=True) and own.get(place, "default")
    time.sleep(1.8)
    assert own.get(place, "default") is None
    assert sorted(item.key for item in own.search(place)) == ["ever", "long", "read"]
    time.sleep(2)
    assert own.get(place, "read") is None


@check
def what_is_wrong_is_refused():
    own = store()
    raises(InvalidNamespaceError, lambda: own.put((), "k", {}))
    raises(InvalidNamespaceError, lambda: own.put(("a.b",), "k", {}))
    raises(InvalidNamespaceError, lambda: own.put(("a", ""), "k", {}))
    raises(InvalidNamespaceError, lambda: own.put(("langgraph",), "k", {}))
    raises(InvalidNamespaceError, lambda: own.batch([PutOp(("a.b",), "k", {})]))
    raises(ValueError, lambda: own.search(("a",), filter={"n": {"$in": [1]}}))
    raises(ValueError, lambda: own.put(("a",), "k", {"n": float("nan")}))
    raises(TypeError, lambda: own.put(("a",), "k", {"n": object()}))
    raises(ValueError, lambda: own.put(("a",), "k", {}, ttl=-1))
    raises(ValueError, lambda: own.put(("a",), "k" * 2000, {}))
    raises(ValueError, lambda: own.batch(["nonsense"]))
    raises(Refused, lambda: AmemStore(CLIENT, "no-such-brain").get(("a",), "k"))
    assert own.search(()) == []


@check
def a_graph_uses_it():
    own = store()

    class State(TypedDict):
        user: str
        seen: int

    def node(state, *, store):
        item = store.get(("counts",), state["user"])
        seen = item.value["seen"] + 1 if item else 1
        store.put(("counts",), state["user"], {"seen": seen})
        return {"seen": seen}

    graph = StateGraph(State)
    graph.add_node("count", node)
    graph.add_edge(START, "count")
    graph.add_edge("count", END)
    compiled = graph.compile(store=own)
    assert [compiled.invoke({"user": "ada", "seen": 0})["seen"] for _ in range(3)] == [1, 2, 3]
    assert asyncio.run(compiled.ainvoke({"user": "ada", "seen": 0}))["seen"] == 4


@check
async def many_tasks_share_it_by_their_batching_store():
    own = store()

    class Batched(AsyncBatchedBaseStore):
        def batch(self, ops):
            return own.batch(ops)

        async def abatch(self, ops):
            return await own.abatch(ops)

    batched = Batched()
    await asyncio.gather(*(batched.aput(("t",), f"k{n % 10}", {"n": n}) for n in range(50)))
    found = await asyncio.gather(*(batched.aget(("t",), f"k{n}") for n in range(10)))
    assert [item.value["n"] for item in found] == list(range(40, 50))
    await own.aput(("t",), "own", {"n": 1})
    assert (await own.aget(("t",), "own")).value == {"n": 1}
    assert len(await own.asearch(("t",), limit=100)) == 11
    assert await own.alist_namespaces() == [("t",)]
    await own.adelete(("t",), "own")
    assert await own.aget(("t",), "own") is None


HEADERS = {"authorization": f"Bearer {TOKEN}"}
PLACE = ["sdk", "ada"]


def sdk_answers(answers, kind):
    none, item, found, page, names, gone = answers
    assert none is None
    assert item["value"] == {"city": "Porto", "n": 1} and item["namespace"] == [kind, "ada"] and item["key"] == "home"
    assert datetime.fromisoformat(item["created_at"]) <= datetime.fromisoformat(item["updated_at"])
    assert [one["key"] for one in found["items"]][:1] == ["note"] and found["items"][0]["score"] > 0.3
    assert [one["key"] for one in page["items"]] == ["home"]
    assert names == {"namespaces": [[kind]]}
    assert gone is None


@check
def the_sdk_calls_it():
    kind = "sync-" + uuid.uuid4().hex[:8]
    items = get_sync_client(url=HOST, headers=HEADERS).store
    answers = [items.get_item([kind, "ada"], key="home")]
    items.put_item([kind, "ada"], key="home", value={"city": "Porto", "n": 1}, ttl=10)
    items.put_item([kind, "ada"], key="note", value={"text": "velvet curtains"}, index=["text"])
    answers.append(items.get_item([kind, "ada"], key="home", refresh_ttl=True))
    answers.append(items.search_items([kind], query="velvet"))
    answers.append(items.search_items([kind], filter={"n": {"$gte": 1}}, limit=5))
    answers.append(items.list_namespaces(prefix=[kind], max_depth=1))
    items.delete_item([kind, "ada"], key="home")
    answers.append(items.get_item([kind, "ada"], key="home"))
    sdk_answers(answers, kind)


@check
async def the_sdk_calls_it_with_async():
    kind = "async-" + uuid.uuid4().hex[:8]
    items = get_client(url=HOST, headers=HEADERS).store
    answers = [await items.get_item([kind, "ada"], key="home")]
    await items.put_item([kind, "ada"], key="home", value={"city": "Porto", "n": 1}, ttl=10)
    await items.put_item([kind, "ada"], key="note", value={"text": "velvet curtains"}, index=["text"])
    answers.append(await items.get_item([kind, "ada"], key="home", refresh_ttl=True))
    answers.append(await items.search_items([kind], query="velvet"))
    answers.append(await items.search_items([kind], filter={"n": {"$gte": 1}}, limit=5))
    answers.append(await items.list_namespaces(prefix=[kind], max_depth=1))
    await items.delete_item([kind, "ada"], key="home")
    answers.append(await items.get_item([kind, "ada"], key="home"))
    sdk_answers(answers, kind)


if FAILED:
    raise SystemExit(f"{len(FAILED)} failed: {', '.join(FAILED)}")
