// The hooks of amemd for opencode, written by amemctl connect. `amemctl disconnect opencode` removes this file.
// Each moment of a session runs `amemctl hook --client opencode EVENT` with JSON on stdin; where amemctl is missing or
// slow, the session goes on without it.
import { spawn } from "node:child_process";

const PROGRAM = "amemctl";
const TIMEOUT_MS = 5000;

// Resolves to the context that the hook has for the model, or to "".
function hook(event, input) {
  return new Promise((resolve) => {
    let out = "";
    let child;
    try {
      child = spawn(PROGRAM, ["hook", "--client", "opencode", event], {
        stdio: ["pipe", "pipe", "ignore"],
        timeout: TIMEOUT_MS,
      });
    } catch {
      resolve("");
      return;
    }
    child.on("error", () => resolve(""));
    child.on("close", () => resolve(context(out)));
    child.stdout.on("data", (chunk) => (out += chunk));
    // The hook may end before it has read everything.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...input }));
  });
}

function context(out) {
  if (!out.trim()) return "";
  try {
    const answer = JSON.parse(out);
    return answer.additionalContext ?? answer.hookSpecificOutput?.additionalContext ?? "";
  } catch {
    return "";
  }
}

const text = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n");

export const Amem = async ({ client, directory }) => {
  const cwd = directory;
  const briefs = new Map();
  const prompts = new Map();

  // What was said since the session began, for the memory to learn from.
  async function messages(session_id) {
    try {
      const answer = await client.session.messages({ path: { id: session_id } });
      return (answer.data ?? []).map(({ info, parts }) => ({
        id: info.id,
        role: info.role,
        time: info.time?.created,
        text: text(parts),
      }));
    } catch {
      return [];
    }
  }

  return {
    "chat.message": async (input, output) => {
      const session_id = input.sessionID;
      if (!briefs.has(session_id)) {
        briefs.set(session_id, await hook("session.start", { session_id, cwd }));
      }
      const prompt = text(output.parts);
      prompts.set(session_id, await hook("chat.message", { session_id, cwd, prompt }));
    },
    "experimental.chat.system.transform": async (input, output) => {
      const parts = [briefs.get(input.sessionID), prompts.get(input.sessionID)];
      output.system.push(...parts.filter(Boolean));
    },
    "experimental.session.compacting": async (input) => {
      const session_id = input.sessionID;
      await hook("session.compacting", { session_id, cwd, messages: await messages(session_id) });
    },
    event: async ({ event }) => {
      const session_id = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.idle") {
        prompts.delete(session_id);
        await hook("session.idle", { session_id, cwd, messages: await messages(session_id) });
      } else if (event.type === "session.deleted") {
        briefs.delete(session_id);
        prompts.delete(session_id);
        await hook("session.end", { session_id, cwd });
      }
    },
  };
};
