#!/usr/bin/env python3
"""A model for real agents that is a script: `scripted.py LOG.jsonl` prints its port on 127.0.0.1.

It speaks Anthropic's messages, OpenAI's responses and chat completions, and Gemini's generateContent, each whole or as a
stream. What it answers is in the prompt: `use NAME with KEY: words.` in the newest words of the user is answered by a call of the
tool whose name ends with NAME; once the request has its result, and in every other case, by "Done.". So it has no state,
and requests for titles and summaries disturb nothing. There are no quotes in it: some clients escape them. Each request goes to the log as one line.
"""
import gzip
import json
import re
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ORDER = re.compile(r"use (\w+) with (\w+): ([^.]*)\.")
DONE = "Done."


def texts(value):
    """Every text in a message's content, whatever its form."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)
    elif isinstance(value, dict):
        for key in ("text", "content", "parts"):
            if key in value:
                yield from texts(value[key])


def wanted(said, has_result, offered):
    """The tool that the user's newest words ask for, with its arguments; None if it was called, or is not offered."""
    found = list(ORDER.finditer(said))
    if not found or has_result:
        return None
    name, key, words = found[-1].groups()
    for tool in offered:
        if re.search(rf"(^|\W|_){name}$", tool):
            return tool, {key: words}
    return None


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def body(self):
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(data) if self.headers.get("content-encoding") == "gzip" else data

    def whole(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events, named=True, end=""):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in events:
            head = f"event: {event['type']}\n" if named else ""
            self.wfile.write(f"{head}data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(end.encode())
        self.close_connection = True

    def do_GET(self):
        self.whole({"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": [{"name": "models/scripted"}]})

    def do_HEAD(self):
        self.whole({})

    def do_POST(self):
        path = self.path.split("?")[0]
        request = json.loads(self.body() or b"{}")
        LOG.write(json.dumps({"path": path, "request": request}) + "\n")
        if "ount" in path.rsplit("/", 1)[-1] and "oken" in path:
            self.whole({"input_tokens": 10, "totalTokens": 10})
        elif path.endswith("/messages"):
            self.as_anthropic(request)
        elif path.endswith("/responses"):
            self.as_responses(request)
        elif path.endswith("/chat/completions"):
            self.as_completions(request)
        elif "enerateContent" in path:
            self.as_gemini(request, "stream" in path)
        else:
            self.whole({})

    def as_anthropic(self, request):
        messages = request.get("messages", [])
        newest = messages[-1] if messages else {}
        content = newest.get("content")
        has_result = isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)
        said = " ".join(texts([part for part in messages if part.get("role") == "user"][-1:]))
        call = wanted(said, has_result, [tool["name"] for tool in request.get("tools") or []])
        if call:
            block = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:20]}", "name": call[0], "input": call[1]}
            opened, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            block = {"type": "text", "text": DONE}
            opened, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": DONE}
        reason = "tool_use" if call else "end_turn"
        message = {
            "id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": request.get("model"),
            "content": [block], "stop_reason": reason, "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if not request.get("stream"):
            return self.whole(message)
        self.stream([
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": opened},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ])

    def as_responses(self, request):
        items = request.get("input")
        items = items if isinstance(items, list) else [{"role": "user", "content": items}]
        offered = {}
        for tool in request.get("tools") or []:
            for inner in tool.get("tools") or [tool]:
                space = tool["name"] if tool.get("type") == "namespace" else None
                offered[f"{space}__{inner.get('name')}" if space else inner.get("name", "")] = (space, inner.get("name"))
        has_result = bool(items) and items[-1].get("type") == "function_call_output"
        said = " ".join(texts([item for item in items if item.get("role") == "user"][-1:]))
        call = wanted(said, has_result, offered)
        if call:
            space, name = offered[call[0]]
            item = {
                "type": "function_call", "id": f"fc_{uuid.uuid4().hex}", "call_id": f"call_{uuid.uuid4().hex[:16]}",
                "name": name, "arguments": json.dumps(call[1]), "status": "completed",
            }
            if space:
                item["namespace"] = space
        else:
            item = {
                "type": "message", "id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": DONE, "annotations": []}],
            }
        response = {"id": f"resp_{uuid.uuid4().hex}", "object": "response", "created_at": 1, "model": request.get("model")}
        usage = {
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
        }
        complete = {**response, "status": "completed", "output": [item], "usage": usage}
        if not request.get("stream"):
            return self.whole(complete)
        self.stream([
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": complete},
        ])

    def as_completions(self, request):
        messages = request.get("messages", [])
        has_result = bool(messages) and messages[-1].get("role") == "tool"
        said = " ".join(texts([message for message in messages if message.get("role") == "user"][-1:]))
        call = wanted(said, has_result, [tool["function"]["name"] for tool in request.get("tools") or []])
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            made = [{"index": 0, "id": f"call_{uuid.uuid4().hex[:12]}", "type": "function", "function": function}]
            message, reason = {"role": "assistant", "content": None, "tool_calls": made}, "tool_calls"
        else:
            message, reason = {"role": "assistant", "content": DONE}, "stop"
        answer = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": 1, "model": request.get("model")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.whole({**answer, "object": "chat.completion", "choices": [choice], "usage": usage})
        answer["object"] = "chat.completion.chunk"
        self.stream(
            [
                {**answer, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                {**answer, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
            ],
            named=False,
            end="data: [DONE]\n\n",
        )

    def as_gemini(self, request, is_stream):
        contents = request.get("contents", [])
        newest = contents[-1].get("parts", []) if contents else []
        has_result = any("functionResponse" in part for part in newest)
        asked = [turn for turn in contents if turn.get("role") == "user" and any("text" in part for part in turn.get("parts", []))]
        offered = [f["name"] for tool in request.get("tools") or [] for f in tool.get("functionDeclarations") or []]
        call = wanted(" ".join(texts(asked[-1:])), has_result, offered)
        if call:
            part = {"functionCall": {"name": call[0], "args": call[1]}}
        elif offered:
            part = {"text": DONE}
        else:
            # It asks which model fits and who speaks next, as JSON.
            part = {"text": json.dumps({"reasoning": "", "next_speaker": "user", "model_choice": "flash"})}
        answer = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
        if is_stream:
            return self.stream([answer], named=False)
        self.whole(answer)


LOG = open(sys.argv[1], "a", buffering=1)
server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(server.server_address[1], flush=True)
server.serve_forever()
