"""Every call of mem0's Python client, sync and async, against amemd. One line a call."""

import asyncio
import logging
import os
import sys

from mem0 import AsyncMemoryClient, MemoryClient

logging.disable(logging.CRITICAL)
HOST, TOKEN = os.environ["AMEM_HTTP"], os.environ["AMEM_TOKEN"]
FAILED = []


def has(value, *names):
    missing = [name for name in names if name not in value]
    assert not missing, f"{missing} missing in {value}"
    return value


class Calls:
    """Runs calls of one client; `kind` names it."""

    def __init__(self, kind, client):
        self.kind, self.client, self.seen = kind, client, {}

    async def run(self, name, check, /, *args, part=None, **kwargs):
        target = getattr(self.client, part) if part else self.client
        try:
            answer = getattr(target, name)(*args, **kwargs)
            answer = await answer if asyncio.iscoroutine(answer) else answer
            check(answer)
            outcome = "ok"
        except Exception as error:
            answer, outcome = None, f"FAILED: {type(error).__name__}: {error}"
        self.tell(name, part, outcome)
        return answer

    async def refused(self, name, code, /, *args, part=None, **kwargs):
        """A call that amemd must refuse with this code, and say why."""
        target = getattr(self.client, part) if part else self.client
        try:
            answer = getattr(target, name)(*args, **kwargs)
            answer = await answer if asyncio.iscoroutine(answer) else answer
            outcome = f"FAILED: answered {answer}"
        except Exception as error:
            found = getattr(error, "details", {}).get("code")
            outcome = f"refused as documented: {found}"
            if found != code:
                outcome = f"FAILED: {found} instead of {code}: {type(error).__name__}: {error}"
        self.tell(name, part, outcome)

    def tell(self, name, part, outcome):
        call = f"{part}.{name}" if part else name
        print(f"{self.kind:6} {call:28} {outcome}")
        if outcome.startswith("FAILED"):
            FAILED.append(f"{self.kind} {call}")


async def memories(calls, user):
    said = [{"role": "user", "content": "I live in Porto"}, {"role": "assistant", "content": "Nice."}]
    item = ("id", "memory", "user_id", "agent_id", "app_id", "run_id", "hash", "metadata", "created_at", "updated_at",
            "expiration_date", "categories")
    added = await calls.run(
        "add", lambda answer: has(answer["results"][0], "id", "event", "memory", "data"), said, user_id=user,
        agent_id="helper", run_id="one", metadata={"tag": "work"}, expiration_date="2099-01-01", timestamp=1700000000)
    memory = added["results"][0]["id"]
    await calls.run("get", lambda answer: has(answer, *item), memory)
    whose = {"AND": [{"user_id": user}]}
    await calls.run("get_all", lambda answer: has(answer["results"][0], *item), filters=whose)
    await calls.run("get_all", lambda answer: has(answer, "count", "next", "previous"), filters={"user_id": user}, page=1,
                    page_size=1)

    def found(answer):
        assert [hit["id"] for hit in answer["results"]] == [memory], answer
        has(answer["results"][0], "score", *item)

    await calls.run("search", found, "where is home", top_k=3,
                    filters={"AND": [{"user_id": user}, {"metadata": {"tag": "work"}}]})
    await calls.refused("search", "SCOPE", "home", filters={})

    def updated(answer):
        assert answer["memory"] == "User lives in Rome" and answer["metadata"] == {"tag": "x"}, answer

    await calls.run("update", updated, memory, text="User lives in Rome", metadata={"tag": "x"})

    def versions(answer):
        assert [record["event"] for record in answer] == ["ADD", "UPDATE"], answer
        has(answer[0], "id", "memory_id", "input", "old_memory", "new_memory", "user_id", "created_at", "updated_at")

    await calls.run("history", versions, memory)
    await calls.run("feedback", lambda answer: has(answer, "id", "feedback"), memory, feedback="POSITIVE")
    await calls.run("batch_update", lambda answer: has(answer, "message"), [{"memory_id": memory, "text": "User lives in Bonn"}])
    export = await calls.run("create_memory_export", lambda answer: has(answer, "id", "message"), "{}", filters=whose)
    await calls.run("get_memory_export", lambda answer: has(answer["results"][0], *item), memory_export_id=export["id"])
    await calls.run("get_memory_export", lambda answer: has(answer["results"][0], *item), filters=whose)
    await calls.run("users", lambda answer: has(answer["results"][0], "id", "name", "type", "total_memories", "owner"))
    await calls.run("delete", lambda answer: has(answer, "message"), memory)
    await calls.refused("get", "UNKNOWN_MEMORY", memory)
    await calls.refused("get", "INVALID", "no-id")
    added = await calls.run("add", lambda answer: has(answer["results"][0], "id"), "likes tea", user_id=user, infer=False)
    await calls.run("batch_delete", lambda answer: has(answer, "message"), [{"memory_id": added["results"][0]["id"]}])
    await calls.run("add", lambda answer: has(answer, "event_id"), "likes milk", user_id=user, infer=False)

    def deleted(answer):
        assert answer["deleted"] == 1, answer

    await calls.run("delete_all", deleted, user_id=user)
    await calls.run("add", lambda answer: has(answer, "results"), "likes oats", user_id=user, infer=False)
    await calls.run("delete_users", lambda answer: has(answer, "message"), user_id=user)


async def rest(calls):
    """What amemd has no counterpart for is refused with the reason."""
    is_sync = calls.kind == "sync"
    await calls.run("get", lambda answer: has(answer, "custom_instructions", "custom_categories"), part="project",
                    fields=["custom_instructions", "custom_categories"])
    await calls.run("get_project", lambda answer: has(answer, "custom_instructions"), fields=["custom_instructions"])
    await calls.refused("update", "NOT_KEPT", part="project", custom_instructions="x")
    await calls.refused("create", "NOT_KEPT", "x", part="project")
    await calls.refused("get_members", "NOT_KEPT", part="project")
    await calls.refused("add_member", "NOT_KEPT", "a@b.example", part="project")
    await calls.refused("update_member", "NOT_KEPT", "a@b.example", "READER", part="project")
    await calls.refused("remove_member", "NOT_KEPT", "a@b.example", part="project")
    await calls.refused("delete", "NOT_KEPT", part="project")
    await calls.refused("update_project", "NOT_KEPT", custom_instructions="x")
    await calls.refused("get_summary", "NO_PROFILES", filters={"user_id": "ada"})
    await calls.refused("get_profile", "NO_PROFILES", "ada")
    await calls.refused("generate_profile", "NO_PROFILES", "ada")
    await calls.refused("get_profile_settings", "NO_PROFILES")
    await calls.refused("update_profile_settings", "NO_PROFILES", enabled=True)
    await calls.refused("sample_profiles", "NO_PROFILES", limit=1)
    await calls.refused("get_profile_job", "NO_PROFILES", "7")
    hook = await calls.run("create_webhook", lambda answer: has(answer, "webhook_id", "secret", "is_active"), url="https://a.example",
                           name="a", project_id="default", event_types=["memory_add", "memory_categorize"])
    hook = hook["webhook_id"]
    await calls.run("get_webhooks", lambda answer: has(answer[0], "webhook_id", "url", "event_types"), project_id="default")
    await calls.run("update_webhook", lambda answer: has(answer, "message"), webhook_id=hook, name="b")
    await calls.run("delete_webhook", lambda answer: has(answer, "message"), webhook_id=hook)
    await calls.refused("delete_webhook", "UNKNOWN_WEBHOOK", webhook_id=hook)
    if is_sync:
        await calls.run("add", lambda answer: has(answer, "results"), "likes all", user_id="ada", infer=False)
    await calls.run("reset", lambda answer: has(answer, "message"))


async def main():
    try:
        MemoryClient(api_key="wrong", host=HOST)
        print("sync   constructor                  FAILED: a wrong key is accepted")
        FAILED.append("constructor")
    except Exception as error:
        print(f"sync   constructor, wrong key       refused as documented: {type(error).__name__}")
    client = MemoryClient(api_key=TOKEN, host=HOST)
    print("sync   constructor (ping)           ok")
    calls = Calls("sync", client)
    await memories(calls, "ada")
    await rest(calls)
    async with AsyncMemoryClient(api_key=TOKEN, host=HOST) as client:
        print("async  constructor (ping)           ok")
        calls = Calls("async", client)
        await memories(calls, "bob")
        await calls.run("add", lambda answer: has(answer, "results"), "likes all", user_id="bob", infer=False)
        await rest(calls)


asyncio.run(main())
if FAILED:
    sys.exit(f"{len(FAILED)} calls failed: {', '.join(FAILED)}")
