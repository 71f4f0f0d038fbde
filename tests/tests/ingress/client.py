"""A client as Python users write one: generated stubs, a channel with default options.

Arguments: the target (unix:/path), the folder of the .proto files, a folder for the stubs.
"""

import pathlib
import sys

import grpc
from grpc_tools import protoc

target, protos, stubs = sys.argv[1:]
files = sorted(str(path.relative_to(protos)) for path in pathlib.Path(protos).rglob("*.proto"))
include = str(pathlib.Path(grpc.__file__).parent.parent / "grpc_tools" / "_proto")
arguments = ["protoc", f"-I{protos}", f"-I{include}", f"--python_out={stubs}", f"--grpc_python_out={stubs}"]
if protoc.main(arguments + files) != 0:
    sys.exit("protoc failed")
sys.path.insert(0, stubs)

from amem.v1 import admin_pb2, admin_pb2_grpc, brain_pb2, brain_pb2_grpc  # noqa: E402
from amem.v1 import memory_pb2, memory_pb2_grpc, types_pb2  # noqa: E402

channel = grpc.insecure_channel(target)
brains = brain_pb2_grpc.BrainServiceStub(channel)
memory = memory_pb2_grpc.MemoryServiceStub(channel)
admin = admin_pb2_grpc.AdminServiceStub(channel)

status, call = admin.GetStatus.with_call(
    admin_pb2.GetStatusRequest(), metadata=[("x-request-id", "turn-1")]
)
names = dict(call.initial_metadata())
assert names.get("x-request-id") == "turn-1", names
print("unary: amemd", status.version)

brains.CreateBrain(brain_pb2.CreateBrainRequest(brain="b", vectors=brain_pb2.VectorOptions()))


def fact(text):
    event = types_pb2.NewEvent(type=types_pb2.EVENT_TYPE_FACT, text=text)
    return memory_pb2.IngestRequest(brain="b", events=[event])


def batches():
    for number in range(100):
        yield memory_pb2.IngestStreamRequest(batch=fact(f"fact {number}"))


answers = list(memory.IngestStream(batches()))
assert [list(answer.done.event_ids) for answer in answers] == [[number] for number in range(100)]
print("stream: 100 batches")

# Headers that come again and again are packed with a table that both ends keep.
for number in range(1000):
    listed = brains.ListBrains(
        brain_pb2.ListBrainsRequest(),
        metadata=[("x-number", str(number % 7)), ("x-large", "v" * (number % 5 * 1000))],
        timeout=10,
    )
    assert [brain.brain for brain in listed.brains] == ["b"], listed
print("unary: 1000 calls")

large = memory.Ingest(fact("x" * 900_000))
assert list(large.event_ids) == [100]
print("unary: a large request")

try:
    memory.Ingest(memory_pb2.IngestRequest(brain="nowhere"))
    sys.exit("an unknown brain was found")
except grpc.RpcError as error:
    assert error.code() == grpc.StatusCode.NOT_FOUND, error
print("done")
