// Calls of a client that openapi-typescript makes of /openapi.json: it must compile, and its types must be those of the
// answers. One line a call.

import createClient from "openapi-fetch";

import type { components, paths } from "./api.js";

type Schemas = components["schemas"];

const headers = { authorization: `Bearer ${process.env.AMEM_TOKEN}` };
const client = createClient<paths>({ baseUrl: process.env.AMEM_HTTP, headers });
let failed = false;

function tell(name: string, problem?: string): void {
    console.log(`openapi ${name.padEnd(27)} ${problem === undefined ? "ok" : `FAILED: ${problem}`}`);
    failed ||= problem !== undefined;
}

interface Answer<T> {
    data?: T;
    error?: Schemas["Error"];
    response: Response;
}

// Makes a call that must be answered, and checks the answer; its problem, or nothing.
async function run<T>(name: string, call: Promise<Answer<T>>, check: (data: T) => string | undefined): Promise<T> {
    const { data, error, response } = await call;
    if (data === undefined) {
        tell(name, `${response.status} ${JSON.stringify(error)}`);
        throw new Error(name);
    }
    tell(name, check(data));
    return data;
}

function same(found: unknown, wanted: unknown): string | undefined {
    const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
    return one === other ? undefined : `${one} is not ${other}`;
}

const brain = { path: { brain: "openapi" } };

await run("createBrain", client.POST("/v1/brains/{brain}/create-brain", { params: brain, body: {} }), () => undefined);
const events: Schemas["NewEvent"][] = [
    { type: "EVENT_TYPE_FACT", text: "the build fails when protoc is missing", confidence: 0.7 },
    { type: "EVENT_TYPE_DECISION", text: "protoc is no longer needed to build" },
];
const links: Schemas["NewLink"][] = [
    { source: { batchIndex: 1 }, target: { batchIndex: 0 }, type: "EDGE_TYPE_CAUSED_BY" },
];
const ingest = { ...brain, header: { "Idempotency-Key": "openapi-1", "X-Amem-Agent": "openapi" } };
const stored = await run(
    "ingest",
    client.POST("/v1/brains/{brain}/ingest", { params: ingest, body: { events, links } }),
    ({ eventIds, edges }) => same([eventIds, edges], [["0", "1"], "1"]),
);
await run(
    "ingest, sent again",
    client.POST("/v1/brains/{brain}/ingest", { params: ingest, body: { events, links } }),
    ({ eventIds, commit }) => same([eventIds, commit?.replayed], [stored.eventIds, true]),
);
await run(
    "search",
    client.POST("/v1/brains/{brain}/search", { params: brain, body: { text: "what does the build need" } }),
    ({ hits }) => same(hits?.length, 2),
);
await run(
    "why",
    client.POST("/v1/brains/{brain}/why", { params: brain, body: { eventId: "1" } }),
    ({ steps }) => same(steps?.[1]?.type, "EDGE_TYPE_CAUSED_BY"),
);
await run("getBrain", client.GET("/v1/brains/{brain}", { params: brain }), ({ status }) => same(status?.events, "2"));
await run("listBrains", client.GET("/v1/brains", {}), ({ brains }) =>
    same(brains?.some((one) => one.brain === "openapi"), true),
);

const body: Schemas["AddMemories"] = {
    user_id: "openapi",
    messages: "I live in Porto and I am allergic to nuts",
    metadata: { tag: "home" },
};
const added = await run("addMemories", client.POST("/v1/memories", { body }), ({ results }) =>
    same(results.map((one) => one.memory), ["User lives in Porto", "User is allergic to nuts"]),
);
const params = { path: { id: added.results[0]?.id ?? "" } };
await run("getMemory", client.GET("/v1/memories/{id}", { params }), ({ memory, metadata }) =>
    same([memory, metadata], ["User lives in Porto", { tag: "home" }]),
);
await run("updateMemory", client.PUT("/v1/memories/{id}", { params, body: { text: "User lives in Rome" } }), (memory) =>
    same(memory.memory, "User lives in Rome"),
);
const found = { user_id: "openapi", query: "where does she live" };
await run("searchMemories", client.POST("/v3/memories/search", { body: found }), ({ results }) =>
    same(results[0]?.memory, "User lives in Rome"),
);
await run("event", client.GET("/v1/event/{id}", { params: { path: { id: added.event_id ?? "" } } }), ({ status }) =>
    same(status, "SUCCEEDED"),
);
await run("deleteMemories", client.DELETE("/v1/memories", { params: { query: { user_id: "openapi" } } }), () => undefined);

// A refusal has the shape of the description as well.
const refused = await client.POST("/v1/memories", { body: { messages: "I like tea" } });
const told = refused.error;
tell("a refusal", same([told?.error, told?.code, told?.stored], ["ScopeError", "SCOPE", "nothing"]));

// The events of a stream are messages, too: this client gives their text.
const stream = await client.GET("/v1/brains/{brain}/subscribe", {
    params: { ...brain, query: { after: "0" } },
    parseAs: "stream",
});
const reader = stream.data?.getReader();
const first = new TextDecoder().decode((await reader?.read())?.value);
await reader?.cancel();
const data = first.split("\n").find((line) => line.startsWith("data: "));
const message: Schemas["SubscribeResponse"] = JSON.parse(data?.slice("data: ".length) ?? "{}");
// The first message says where the stream begins.
tell("subscribe", same([first.split("\n")[0], typeof message.moment?.instance], ["id: 0", "string"]));

process.exit(failed ? 1 : 0);
