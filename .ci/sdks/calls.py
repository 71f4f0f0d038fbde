#!/usr/bin/env python3
"""The official SDKs against scripted servers: `calls.py PROGRAM` starts amem-scripted, and prints one line a call."""
import asyncio
import json
import subprocess
import sys
import traceback

import anthropic
import ollama
import openai
from google import genai
from google.genai import errors as google_errors
from google.genai import types

SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "facts", "strict": True, "schema": SCHEMA}}
TURNS = [{"role": "user", "content": "I work at Acme Corp."}]
HELLO = "Hello from the script."
failed = 0


def call(name, run):
    """One line: what came of it."""
    global failed
    try:
        run()
        print(f"ok      {name}", flush=True)
    except Exception:
        failed += 1
        print(f"FAILED  {name}\n{traceback.format_exc(limit=3)}", flush=True)


def raises(kind, run, has=lambda error: True):
    """The SDK's own error, and nothing else."""
    try:
        run()
    except Exception as error:
        assert type(error) is kind, f"{type(error)}: {error}"
        assert has(error), repr(error)
        return
    raise AssertionError(f"no {kind.__name__}")


def facts(text):
    assert json.loads(text) == {"facts": ["User works at Acme Corp"]}, text


def same(found, wanted):
    assert found == wanted, f"{found!r}, not {wanted!r}"


def of_openai(name, client, model, wrong):
    chat = client.chat.completions.create

    def structured():
        answer = chat(model=model, messages=TURNS, response_format=FORMAT, temperature=0, max_tokens=100)
        facts(answer.choices[0].message.content)
        same(answer.choices[0].finish_reason, "stop")
        same(answer.usage.prompt_tokens, 11)

    def json_object():
        turns = [{"role": "system", "content": "Answer in JSON."}, *TURNS]
        facts(chat(model=model, messages=turns, response_format={"type": "json_object"}).choices[0].message.content)

    def streamed():
        options = {"include_usage": True}
        chunks = list(chat(model=model, messages=TURNS, stream=True, stream_options=options))
        same("".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices), HELLO)
        same(chunks[-1].usage.prompt_tokens, 11)

    def embedded():
        # The SDK asks for base64, and gives numbers.
        answer = client.embeddings.create(model=model, input=["a", "b"], dimensions=6)
        same([len(one.embedding) for one in answer.data], [6, 6])
        plain = client.embeddings.create(model=model, input=["a", "b"], dimensions=6, encoding_format="float")
        near = zip(answer.data[1].embedding, plain.data[1].embedding)
        assert all(abs(one - other) < 1e-6 for one, other in near), "base64 and floats differ"

    call(f"{name}: structured output", structured)
    call(f"{name}: JSON object", json_object)
    call(f"{name}: stream", streamed)
    call(f"{name}: embeddings", embedded)
    for status, kind in [
        (400, openai.BadRequestError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (422, openai.UnprocessableEntityError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
    ]:
        call(f"{name}: {status}", lambda: raises(kind, lambda: chat(model=f"status-{status}", messages=TURNS)))
    call(f"{name}: wrong key", lambda: raises(openai.AuthenticationError, lambda: wrong.chat.completions.create(model=model, messages=TURNS)))
    lax = {"type": "json_schema", "json_schema": {"name": "f", "strict": True, "schema": {"type": "object", "properties": {}}}}
    call(
        f"{name}: a schema that is not strict",
        lambda: raises(
            openai.BadRequestError,
            lambda: chat(model=model, messages=TURNS, response_format=lax),
            lambda error: "additionalProperties" in str(error),
        ),
    )
    call(
        f"{name}: an unknown field",
        lambda: raises(
            openai.BadRequestError,
            lambda: chat(model=model, messages=TURNS, extra_body={"nonsense": 1}),
            lambda error: "nonsense" in str(error),
        ),
    )


def of_anthropic(client, wrong):
    create = client.messages.create
    model = "claude-scripted"
    tool = {"name": "emit", "description": "d", "input_schema": SCHEMA}

    def structured():
        config = {"format": {"type": "json_schema", "schema": SCHEMA}}
        answer = create(model=model, max_tokens=100, system="s", messages=TURNS, output_config=config)
        facts(answer.content[0].text)
        same((answer.stop_reason, answer.usage.input_tokens), ("end_turn", 11))

    def forced():
        choice = {"type": "tool", "name": "emit"}
        answer = create(model=model, max_tokens=100, messages=TURNS, tools=[tool], tool_choice=choice)
        same(answer.content[0].input, {"facts": ["User works at Acme Corp"]})
        same(answer.stop_reason, "tool_use")

    def streamed():
        with client.messages.stream(model=model, max_tokens=100, messages=TURNS) as stream:
            same("".join(stream.text_stream), HELLO)
            same(stream.get_final_message().stop_reason, "end_turn")

    def streamed_tool():
        choice = {"type": "tool", "name": "emit"}
        with client.messages.stream(model=model, max_tokens=9, messages=TURNS, tools=[tool], tool_choice=choice) as stream:
            same(stream.get_final_message().content[0].input, {"facts": ["User works at Acme Corp"]})

    call("anthropic: structured output", structured)
    call("anthropic: forced tool", forced)
    call("anthropic: stream", streamed)
    call("anthropic: stream of a tool", streamed_tool)
    for status, kind in [
        (400, anthropic.BadRequestError),
        (403, anthropic.PermissionDeniedError),
        (404, anthropic.NotFoundError),
        (429, anthropic.RateLimitError),
        (500, anthropic.InternalServerError),
    ]:
        call(f"anthropic: {status}", lambda: raises(kind, lambda: create(model=f"status-{status}", max_tokens=9, messages=TURNS)))
    call("anthropic: wrong key", lambda: raises(anthropic.AuthenticationError, lambda: wrong.messages.create(model=model, max_tokens=9, messages=TURNS)))
    call(
        "anthropic: a temperature, which its version has not",
        lambda: raises(
            anthropic.BadRequestError,
            lambda: create(model=model, max_tokens=9, messages=TURNS, extra_body={"temperature": 0}),
            lambda error: "temperature: Extra inputs are not permitted" in str(error),
        ),
    )
    call(
        "anthropic: an unknown field",
        lambda: raises(
            anthropic.BadRequestError,
            lambda: create(model=model, max_tokens=9, messages=TURNS, extra_body={"nonsense": 1}),
            lambda error: "nonsense: Extra inputs are not permitted" in str(error),
        ),
    )


def of_google(client, wrong):
    generate = client.models.generate_content
    model = "gemini-scripted"

    def structured():
        config = types.GenerateContentConfig(
            temperature=0, max_output_tokens=100, system_instruction="s",
            response_mime_type="application/json", response_json_schema=SCHEMA,
        )
        answer = generate(model=model, contents="I work at Acme Corp.", config=config)
        facts(answer.text)
        same(answer.usage_metadata.prompt_token_count, 11)
        same(answer.candidates[0].finish_reason, types.FinishReason.STOP)

    def streamed():
        chunks = client.models.generate_content_stream(model=model, contents="Hi")
        same("".join(chunk.text or "" for chunk in chunks), HELLO)

    def embedded():
        config = types.EmbedContentConfig(output_dimensionality=6)
        answer = client.models.embed_content(model="gemini-embedding-001", contents=["a", "b"], config=config)
        same([len(one.values) for one in answer.embeddings], [6, 6])

    call("google: structured output", structured)
    call("google: stream", streamed)
    call("google: embeddings", embedded)
    for status, kind in [
        (400, google_errors.ClientError),
        (403, google_errors.ClientError),
        (404, google_errors.ClientError),
        (429, google_errors.ClientError),
        (500, google_errors.ServerError),
    ]:
        call(
            f"google: {status}",
            lambda: raises(kind, lambda: generate(model=f"status-{status}", contents="Hi"), lambda error: error.code == status),
        )
    call(
        "google: wrong key",
        lambda: raises(
            google_errors.ClientError,
            lambda: wrong.models.generate_content(model=model, contents="Hi"),
            lambda error: error.code == 400 and error.status == "INVALID_ARGUMENT",
        ),
    )


def of_ollama(client, asynchronous):
    def structured():
        answer = client.chat(model="scripted", messages=TURNS, format=SCHEMA, options={"temperature": 0, "num_predict": 100})
        facts(answer.message.content)
        same((answer.done_reason, answer.prompt_eval_count), ("stop", 11))

    def streamed():
        pieces = list(client.chat(model="scripted", messages=TURNS, stream=True))
        same("".join(piece.message.content for piece in pieces), HELLO)
        same(pieces[-1].done, True)

    async def streamed_asynchronously():
        text = ""
        async for piece in await asynchronous.chat(model="scripted", messages=TURNS, stream=True):
            text += piece.message.content
        same(text, HELLO)

    def embedded():
        answer = client.embed(model="scripted", input=["a", "b"], dimensions=6)
        same([len(vector) for vector in answer.embeddings], [6, 6])

    call("ollama: structured output", structured)
    call("ollama: stream", streamed)
    call("ollama: asynchronous stream", lambda: asyncio.run(streamed_asynchronously()))
    call("ollama: embeddings", embedded)
    for status in [400, 404, 500]:
        call(
            f"ollama: {status}",
            lambda: raises(
                ollama.ResponseError,
                lambda: client.chat(model=f"status-{status}", messages=TURNS),
                lambda error: error.status_code == status and "refuses" in error.error,
            ),
        )


def main():
    program = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        at = dict(program.stdout.readline().split() for _ in range(6))
        key, once = at["key"], {"max_retries": 0}
        of_openai(
            "openai",
            openai.OpenAI(base_url=at["openai"], api_key=key, **once),
            "gpt-scripted",
            openai.OpenAI(base_url=at["openai"], api_key="wrong", **once),
        )
        azure = {"azure_endpoint": at["azure"], "api_version": "2024-10-21", **once}
        of_openai(
            "azure",
            openai.AzureOpenAI(api_key=key, **azure),
            "deployment",
            openai.AzureOpenAI(api_key="wrong", **azure),
        )
        of_anthropic(
            anthropic.Anthropic(base_url=at["anthropic"], api_key=key, **once),
            anthropic.Anthropic(base_url=at["anthropic"], api_key="wrong", **once),
        )
        options = types.HttpOptions(base_url=at["google"])
        of_google(
            genai.Client(api_key=key, http_options=options),
            genai.Client(api_key="wrong", http_options=options),
        )
        of_ollama(ollama.Client(host=at["ollama"]), ollama.AsyncClient(host=at["ollama"]))
    finally:
        program.stdin.close()
        program.wait(timeout=10)
    print(f"\n{failed} failed")
    sys.exit(1 if failed else 0)


main()
