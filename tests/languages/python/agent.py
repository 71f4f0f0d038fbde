"""An agent in Python: what one does with a daemon, with stubs made by grpcio-tools and default channel options.

Run by the test `languages`, or by hand beside a daemon:

    python -m grpc_tools.protoc -I proto/proto --python_out=STUBS --grpc_python_out=STUBS proto/proto/amem/v1/*.proto
    python agent.py --stubs STUBS --target unix:/run/amemd/amemd.sock
    python agent.py --stubs STUBS --target 127.0.0.1:7474 --token TOKEN

Each step says what it did; the exit code is 1 with the failed step named. When it says RESTART on a line of its own,
kill the daemon, start it again on the same folder and target, and give it a line.
"""

import argparse
import os
import queue
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import grpc
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

parser = argparse.ArgumentParser(description="an agent of amemd")
parser.add_argument("--target", required=True, help="unix:/path or host:port")
parser.add_argument("--token", help="what TCP asks for")
parser.add_argument("--stubs", required=True, help="the folder of the generated stubs")
parser.add_argument("--brain", default="agent", help="the brain that it makes")
args = parser.parse_args()
sys.path.insert(0, args.stubs)

from amem.v1 import brain_pb2, brain_pb2_grpc, memory_pb2, memory_pb2_grpc  # noqa: E402
from amem.v1 import query_pb2, query_pb2_grpc, types_pb2  # noqa: E402

# How long any call may take, in seconds.
PATIENCE = 30
AUTHORISED = [("authorization", "Bearer " + args.token)] if args.token else []

channel = grpc.insecure_channel(args.target)
brains = brain_pb2_grpc.BrainServiceStub(channel)
memory = memory_pb2_grpc.MemoryServiceStub(channel)
queries = query_pb2_grpc.QueryServiceStub(channel)
health = health_pb2_grpc.HealthStub(channel)

# The LSN of every answered commit, in order.
committed = []


def call(method, request, **options):
    options.setdefault("timeout", PATIENCE)
    return method(request, metadata=AUTHORISED, **options)


def check(held, what):
    if not held:
        raise AssertionError(what)


def check_refused(what, code, reason, attempt):
    """The attempt must end in this status, and name this reason in its google.rpc.ErrorInfo."""
    try:
        attempt()
    except grpc.RpcError as error:
        check(error.code() == code, f"{what}: {error.code()} ({error.details()}), not {code}")
        status = rpc_status.from_call(error)
        found = None
        for detail in status.details if status else []:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                found = info.reason
                check(info.domain == "amem.v1", f"{what}: domain {info.domain}")
        check(found == reason, f"{what}: reason {found}, not {reason}")
        return
    raise AssertionError(f"{what}: it was not refused")


def uuid7():
    """48 bits of milliseconds, version 7, chance."""
    millis = int(time.time() * 1000) << 80
    chance = int.from_bytes(os.urandom(10), "big")
    version = (7 << 76) | (2 << 62)
    mask = ~((0xF << 76) | (3 << 62))
    return str(uuid.UUID(int=millis | (chance & mask) | version))


def options():
    return types_pb2.WriteOptions(agent="python", request_id=uuid7())


def facts(*texts, brain=args.brain):
    events = [types_pb2.NewEvent(type=types_pb2.EVENT_TYPE_FACT, text=text) for text in texts]
    return memory_pb2.IngestRequest(brain=brain, options=options(), events=events)


def ingest(*texts, **how):
    done = call(memory.Ingest, facts(*texts), **how)
    committed.append(done.commit.lsn)
    return done


def is_healthy():
    answer = call(health.Check, health_pb2.HealthCheckRequest())
    check(answer.status == health_pb2.HealthCheckResponse.SERVING, f"{answer}")
    return "grpc.health.v1 says SERVING"


def asks_for_its_token():
    if not args.token:
        return "no token is needed here"
    for told in [[], [("authorization", "Bearer wrong")]]:
        check_refused(
            "token", grpc.StatusCode.UNAUTHENTICATED, "TOKEN",
            lambda: brains.ListBrains(brain_pb2.ListBrainsRequest(), metadata=told, timeout=PATIENCE),
        )
    return "without its token, and with a wrong one: UNAUTHENTICATED"


def creates():
    made = call(brains.CreateBrain, brain_pb2.CreateBrainRequest(brain=args.brain))
    check(made.info.brain == args.brain, f"{made}")
    committed.append(made.moment.lsn)
    return f"brain {args.brain}, instance {made.moment.instance}"


def ingests():
    request = facts(
        "The deploy script lives in tools/deploy.sh",
        "Ada prefers tea to coffee",
        "The build takes nine minutes on the old runner",
    )
    link = request.links.add(type=types_pb2.EDGE_TYPE_CAUSED_BY)
    link.source.batch_index = 2
    link.target.batch_index = 0
    done = call(memory.Ingest, request)
    committed.append(done.commit.lsn)
    check(list(done.event_ids) == [0, 1, 2] and done.edges == 1, f"{done}")
    again = call(memory.Ingest, request)
    same = again.event_ids == done.event_ids and again.commit.lsn == done.commit.lsn
    check(same and again.commit.replayed and not done.commit.replayed, f"{again}")
    return f"3 events and 1 edge at LSN {done.commit.lsn}; the same request again was replayed"


def ingests_by_stream(batches=40, events=25, refused=7):
    def requests():
        for at in range(batches):
            batch = facts(*[f"batch {at} event {n}" for n in range(events)])
            if at == refused:
                batch.events[3].text = ""
            yield memory_pb2.IngestStreamRequest(batch=batch)

    next_id, last = 3, committed[-1]
    answers = list(call(memory.IngestStream, requests()))
    check([answer.batch_index for answer in answers] == list(range(batches)), "answers out of order")
    for answer in answers:
        if answer.batch_index == refused:
            check(answer.failure.reason == "INVALID", f"{answer}")
            continue
        ids = list(range(next_id, next_id + events))
        check(list(answer.done.event_ids) == ids, f"{answer}, not {ids}")
        check(answer.done.commit.lsn > last, f"LSN {answer.done.commit.lsn} after {last}")
        last = answer.done.commit.lsn
        committed.append(last)
        next_id += events
    return f"{batches} batches of {events} events answered in order, one refused as it should be"


def asks():
    got = call(queries.GetEvents, query_pb2.GetEventsRequest(brain=args.brain, event_ids=[2, 0], include_edges=True))
    check([event.id for event in got.events] == [2, 0], f"{got}")
    check(got.events[0].edges[0].target == 0, f"{got}")
    check(got.moment.lsn >= committed[-1], f"LSN {got.moment.lsn} before {committed[-1]}")
    found = call(queries.Search, query_pb2.SearchRequest(brain=args.brain, text="what does Ada drink?", limit=3))
    check(found.hits[0].event.id == 1, f"{found}")
    why = call(queries.Why, query_pb2.WhyRequest(brain=args.brain, event_id=2))
    check([step.event.id for step in why.steps] == [2, 0], f"{why}")
    return f"GetEvents 2, Search {len(found.hits)} hits, Why {len(why.steps)} steps"


def corrects():
    event = types_pb2.NewEvent(text="Ada prefers coffee since her trip to Vienna")
    request = memory_pb2.CorrectRequest(
        brain=args.brain, options=options(), target_id=1, event=event, reason="she said so"
    )
    done = call(memory.Correct, request)
    committed.append(done.commit.lsn)
    resolved = call(queries.Resolve, query_pb2.ResolveRequest(brain=args.brain, event_id=1))
    check(resolved.head.id == done.event_id and not resolved.contested, f"{resolved}")
    check([event.id for event in resolved.chain] == [1, done.event_id], f"{resolved}")
    return f"event 1 by event {done.event_id}; Resolve gives a chain of 2"


def is_refused():
    code = grpc.StatusCode
    get = query_pb2.GetEventsRequest
    rows = [
        ("unknown brain", code.NOT_FOUND, "UNKNOWN_BRAIN", memory.Ingest, facts("x", brain="nowhere")),
        ("brain's name", code.INVALID_ARGUMENT, "BRAIN_NAME", memory.Ingest, facts("x", brain="a/b")),
        ("second brain", code.ALREADY_EXISTS, "BRAIN_EXISTS", brains.CreateBrain,
         brain_pb2.CreateBrainRequest(brain=args.brain)),
        ("unknown event", code.NOT_FOUND, "UNKNOWN_EVENT", queries.GetEvents,
         get(brain=args.brain, event_ids=[1 << 40])),
        ("future", code.OUT_OF_RANGE, "UNKNOWN_LSN", queries.GetEvents,
         get(brain=args.brain, event_ids=[0], as_of=types_pb2.AsOf(lsn=1 << 40))),
        ("empty text", code.INVALID_ARGUMENT, "INVALID", memory.Ingest, facts("")),
        ("condition", code.ABORTED, "CONDITION", memory.Ingest, memory_pb2.IngestRequest(
            brain=args.brain, options=types_pb2.WriteOptions(expected_lsn=0),
            events=[types_pb2.NewEvent(text="x")])),
    ]
    for what, status, reason, method, request in rows:
        check_refused(what, status, reason, lambda: call(method, request))
    return f"{len(rows)} bad requests, each with its code and its ErrorInfo"


def keeps_deadlines():
    # grpcio rounds a deadline of a nanosecond up to a millisecond, so most of these are answered in time.
    calls, past, until = 0, None, time.monotonic() + PATIENCE
    while past is None:
        check(time.monotonic() < until, f"{calls} calls with a deadline of 1 ns were answered")
        calls += 1
        try:
            call(queries.GetEvents, query_pb2.GetEventsRequest(brain=args.brain, event_ids=[0]), timeout=1e-9)
        except grpc.RpcError as error:
            past = error
    check(past.code() == grpc.StatusCode.DEADLINE_EXCEEDED, f"1 ns: {past.code()} ({past.details()})")
    batches = queue.Queue()
    try:
        next(call(memory.IngestStream, iter(batches.get, None), timeout=0.1))
        raise AssertionError("a stream was answered that nobody wrote to")
    except grpc.RpcError as error:
        check(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, f"stream: {error.code()} ({error.details()})")
    finally:
        batches.put(None)
    return f"1 ns: DEADLINE_EXCEEDED at call {calls}; a silent stream after 100 ms"


def cancels():
    batches = queue.Queue()
    stream = call(memory.IngestStream, iter(batches.get, None))
    batches.put(memory_pb2.IngestStreamRequest(batch=facts("sent before the stream was cancelled")))
    done = next(stream).done
    committed.append(done.commit.lsn)
    stream.cancel()
    try:
        next(stream)
        raise AssertionError("a cancelled stream goes on")
    except grpc.RpcError as error:
        check(error.code() == grpc.StatusCode.CANCELLED, f"{error}")
    finally:
        batches.put(None)
    got = call(queries.GetEvents, query_pb2.GetEventsRequest(brain=args.brain, event_ids=done.event_ids))
    check(got.events[0].text.startswith("sent before"), f"{got}")
    return "a stream after its first answer: CANCELLED, and what was answered is there"


def asks_often(calls=1000, callers=32):
    def one(n):
        got = call(queries.GetEvents, query_pb2.GetEventsRequest(brain=args.brain, event_ids=[n % 900]))
        return got.events[0].id == n % 900

    with ThreadPoolExecutor(callers) as pool:
        right = sum(pool.map(one, range(calls)))
    check(right == calls, f"{right} right answers of {calls}")
    return f"{calls} calls on one channel, {callers} at a time"


instance = ""


def follow(**how):
    """A subscription, and the LSN after which it says that it begins. An LSN is of the instance that was followed."""
    global instance
    if how.get("after_lsn"):
        how["instance"] = instance
    stream = call(memory.Subscribe, memory_pb2.SubscribeRequest(brain=args.brain, **how))
    first = next(stream)
    check(not first.changes, f"the first message says only where the stream begins: {first}")
    instance = first.moment.instance
    return first.moment.lsn, stream


def commits(stream, until):
    """The LSNs of the commits that a subscription sends, up to one."""
    seen = []
    for message in stream:
        if not message.changes or message.more:
            continue
        check(not seen or message.moment.lsn > seen[-1], f"LSN {message.moment.lsn} after {seen[-1:]}")
        seen.append(message.moment.lsn)
        if message.moment.lsn >= until:
            break
    return seen


def follows_from_the_first():
    began, stream = follow(after_lsn=0)
    seen = commits(stream, committed[-1])
    stream.cancel()
    missed = set(committed) - set(seen) - {began}
    check(began == 0 and not missed, f"began at {began}, missed {sorted(missed)}")
    return f"{len(seen)} commits in order, all {len(set(committed))} that were answered"


def follows_from_now():
    began, stream = follow()
    # What was asked for is counted as used by commits that nobody here was answered.
    check(began >= committed[-1], f"began at {began}, before {committed[-1]}")
    for n in range(10):
        ingest(f"written while a client follows, {n}")
    seen = commits(stream, committed[-1])
    stream.cancel()
    check(seen == committed[-10:], f"{seen}, not {committed[-10:]}")
    return "10 commits, and none before them"


def resumes():
    last = committed[-1]
    _, stream = follow()
    print("RESTART", flush=True)
    sys.stdin.readline()
    try:
        for message in stream:
            check(not message.changes, f"a commit that nobody made: {message}")
        ended = "OK"
    except grpc.RpcError as error:
        ended = error.code().name
    check(ended == "UNAVAILABLE", f"the stream ended with {ended}")
    for n in range(3):
        ingest(f"told after the restart, {n}", wait_for_ready=True)
    began, stream = follow(after_lsn=last)
    seen = commits(stream, committed[-1])
    stream.cancel()
    check(began == last and seen == committed[-3:], f"from {began}: {seen}, not from {last}: {committed[-3:]}")
    return f"{ended}; after the restart the {len(seen)} commits after LSN {last}, and none twice"


def follows_no_other_instance():
    request = memory_pb2.SubscribeRequest(brain=args.brain, after_lsn=1, instance=str(uuid.uuid4()))
    check_refused(
        "instance", grpc.StatusCode.FAILED_PRECONDITION, "FOREIGN_INSTANCE",
        lambda: list(call(memory.Subscribe, request)),
    )
    return "FAILED_PRECONDITION"


STEPS = [
    is_healthy, asks_for_its_token, creates, ingests, ingests_by_stream, asks, corrects, is_refused, keeps_deadlines,
    cancels, asks_often, follows_from_the_first, follows_from_now, resumes, follows_no_other_instance,
]

for step in STEPS:
    name = step.__name__.replace("_", " ")
    try:
        print(f"ok: {name}: {step()}", flush=True)
    except Exception as why:  # Whatever it is, the step is named.
        told = f"{why.code().name}: {why.details()}" if isinstance(why, grpc.RpcError) else repr(why)
        print(f"FAILED: {name}: {told}", flush=True)
        sys.exit(1)
print(f"{len(STEPS)} steps, {len(committed)} commits, grpcio {grpc.__version__} over {args.target}")
