// Every call of mem0's client for Node against amemd. One line a call.

import { MemoryClient } from "mem0ai";

const host = process.env.AMEM_HTTP;
const apiKey = process.env.AMEM_TOKEN;
const failed = [];

function tell(name, outcome) {
    console.log(`node   ${name.padEnd(28)} ${outcome}`);
    if (outcome.startsWith("FAILED")) failed.push(name);
}

function has(value, ...names) {
    const missing = names.filter((name) => !(name in value));
    if (missing.length) throw new Error(`${missing} missing in ${JSON.stringify(value)}`);
}

async function run(name, call, check) {
    try {
        const answer = await call();
        check(answer);
        tell(name, "ok");
        return answer;
    } catch (error) {
        tell(name, `FAILED: ${error.name}: ${error.message}`);
        return undefined;
    }
}

// A call that amemd must refuse with this code, and say why.
async function refused(name, code, call) {
    try {
        tell(name, `FAILED: answered ${JSON.stringify(await call())}`);
    } catch (error) {
        const told = `${error.message} ${JSON.stringify(error.details ?? {})}`;
        tell(name, told.includes(code) ? `refused as documented: ${code}` : `FAILED: without ${code}: ${told}`);
    }
}

const item = ["id", "memory", "userId", "agentId", "appId", "runId", "hash", "metadata", "createdAt", "updatedAt", "categories"];
const client = new MemoryClient({ apiKey, host });
const filters = { AND: [{ user_id: "ada" }] };

await run("ping", () => client.ping(), () => {});
const said = [{ role: "user", content: "I live in Porto" }, { role: "assistant", content: "Nice." }];
const options = { userId: "ada", agentId: "helper", metadata: { myTag: "work" }, expirationDate: "2099-01-01", timestamp: 1700000000 };
const added = await run("add", () => client.add(said, options), (answer) => has(answer.results[0], "id", "event", "memory", "data"));
const id = added.results[0].id;
await run("get", () => client.get(id), (answer) => {
    has(answer, ...item);
    if (answer.metadata.myTag !== "work") throw new Error(`metadata ${JSON.stringify(answer.metadata)}`);
});
await run("getAll", () => client.getAll({ filters, page: 1, pageSize: 2 }), (answer) => {
    has(answer, "count", "next", "previous");
    has(answer.results[0], ...item);
});
await run("search", () => client.search("where is home", { filters: { user_id: "ada" }, topK: 3 }), (answer) => {
    has(answer.results[0], "score", ...item);
});
await refused("search without a scope", "SCOPE", () => client.search("home", { filters: {} }));
await run("update", () => client.update(id, { text: "User lives in Rome" }), (answer) => has(answer, "id", "memory"));
await run("history", () => client.history(id), (answer) => has(answer[1], "memoryId", "oldMemory", "newMemory", "input", "event"));
await run("users", () => client.users({ page: 1, pageSize: 10 }), (answer) => has(answer.results[0], "name", "type", "totalMemories"));
await run("batchUpdate", () => client.batchUpdate([{ memoryId: id, text: "User lives in Bonn" }]), (answer) => has(answer, "message"));
await run("feedback", () => client.feedback({ memoryId: id, feedback: "POSITIVE" }), (answer) => has(answer, "message"));
const exported = await run(
    "createMemoryExport",
    () => client.createMemoryExport({ schema: { type: "object" }, filters }),
    (answer) => has(answer, "id", "message"),
);
await run("getMemoryExport", () => client.getMemoryExport({ memoryExportId: exported.id }), (answer) => has(answer.results[0], "memory"));
await run("delete", () => client.delete(id, { deleteLinked: true }), (answer) => has(answer, "message"));
await refused("get of a deleted one", "UNKNOWN_MEMORY", () => client.get(id));
const again = await run("add", () => client.add([{ role: "user", content: "likes tea" }], { userId: "ada", infer: false }), (answer) =>
    has(answer.results[0], "id"),
);
await run("batchDelete", () => client.batchDelete([again.results[0].id]), (answer) => has(answer, "message"));
const add = (text, userId) => client.add([{ role: "user", content: text }], { userId, infer: false });
await add("likes milk", "ada");
await run("deleteAll", () => client.deleteAll({ userId: "ada" }), (answer) => has(answer, "message"));
await add("likes oats", "bob");
await run("deleteUser", () => client.deleteUser({ entity_id: "bob", entity_type: "user" }), (answer) => has(answer, "message"));
await add("likes rye", "carl");
await run("deleteUsers", () => client.deleteUsers({ userId: "carl" }), (answer) => has(answer, "message"));
await run("getProject", () => client.getProject({ fields: ["custom_instructions", "custom_categories"] }), (answer) =>
    has(answer, "customInstructions", "customCategories"),
);
await refused("updateProject", "NOT_KEPT", () => client.updateProject({ customInstructions: "x" }));
const webhook = { name: "a", url: "https://a.example", eventTypes: ["memory_add"] };
const hook = await run("createWebhook", () => client.createWebhook(webhook), (answer) => has(answer, "webhookId", "secret", "isActive"));
await run("getWebhooks", () => client.getWebhooks({ projectId: "default" }), (answer) => has(answer[0], "webhookId", "url", "eventTypes"));
await run("updateWebhook", () => client.updateWebhook({ webhookId: hook.webhookId, ...webhook, name: "b" }), (answer) => has(answer, "message"));
await run("deleteWebhook", () => client.deleteWebhook({ webhookId: hook.webhookId }), (answer) => has(answer, "message"));
await refused("deleteWebhook", "UNKNOWN_WEBHOOK", () => client.deleteWebhook({ webhookId: hook.webhookId }));
await refused("getProfile", "NO_PROFILES", () => client.getProfile({ entityId: "ada" }));
await refused("generateProfile", "NO_PROFILES", () => client.generateProfile({ entityId: "ada" }));
await refused("getProfileSettings", "NO_PROFILES", () => client.getProfileSettings());
await refused("updateProfileSettings", "NO_PROFILES", () => client.updateProfileSettings({ enabled: true }));
await refused("sampleProfiles", "NO_PROFILES", () => client.sampleProfiles({ limit: 1 }));
await refused("getProfileJob", "NO_PROFILES", () => client.getProfileJob("7"));
const wrong = new MemoryClient({ apiKey: "wrong", host });
await refused("ping with a wrong key", "token", () => wrong.ping());

if (failed.length) {
    console.error(`${failed.length} calls failed: ${failed.join(", ")}`);
    process.exit(1);
}
