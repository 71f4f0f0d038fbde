// The memory of one agent: what it is asked and given, and the turns that wait for the daemon.
//
// Promises: turns are stored in their order; each has one key and one request, so that a repetition stores nothing
// twice; a turn leaves the queue when it is stored, or when the daemon refuses it for good. Not here: models and the
// conversation (`agent`).

import type { FormedMemory, GivenMemory, Outcome, Turn } from './answer';
import { newRequestId } from './call';
import { Client } from './client';
import { micros, timestamp } from './convert';
import { AmemError, NotFound, Refused } from './errors';
import { stringify } from './json';
import type { JsonObject } from './types';
import type { Message, Reply } from './wire';

/** Turns that wait for the daemon, at most. */
const PENDING_MAX = 1000;
/** Bytes of what is said, and of an answer. */
export const TEXT_BYTES_MAX = 1 << 20;
/** Characters of a question; the daemon takes 64 KiB. */
const QUESTION_CHARS_MAX = 8000;
/** Refusals that a repetition does not change. */
const FINAL = ['INVALID_ARGUMENT', 'ALREADY_EXISTS', 'OUT_OF_RANGE', 'UNIMPLEMENTED'];
const [USER, ASSISTANT] = [2, 3];
const SOURCES = ['unknown', 'formed', 'said', 'written'] as const;
/** Entries of a recall; the daemon gives no more. */
const ENTRIES_MAX = 200;
/** Standing instructions that an agent is given beside what answers the question. */
const STANDING_MAX = 5;
const EVENTS = ['none', 'add', 'update', 'delete', 'none'] as const;

/** How memories are asked for. */
export interface Recall {
  limit: number;
  scoreMin: number | undefined;
  graph: boolean;
  explain: boolean;
}

/** What a memory is of, and its words. */
export interface FactMemoryOptions {
  client: Client | (() => Promise<Client>);
  brain: string;
  scope: { user?: string; agent?: string; app?: string; run?: string };
  session: string;
  retryFor: number;
  metadata: JsonObject | undefined;
  assistantFacts: boolean;
}

/** Fact memory in a scope of a brain. One call at a time. */
export class FactMemory {
  /** The session of the turns; 0 for none. */
  sessionId = 0;
  readonly pending: Turn[] = [];
  readonly refused: Turn[] = [];
  readonly #options: FactMemoryOptions;
  #client: Client | undefined;
  #hasSessions = true;
  /** Of the call that opens the session: a repetition opens no other. */
  #opening = newRequestId();
  /** False if the daemon was silent last. */
  #answers = true;
  /** Requests that were sent: a repetition is the same request. */
  readonly #sent = new Map<string, Message>();

  constructor(options: FactMemoryOptions) {
    this.#options = options;
    if (options.client instanceof Client) this.#client = options.client;
  }

  /** What was asked for in every session, and what is known about a question, formed, said or written, the best first. */
  async recall(said: string, { limit, scoreMin, graph, explain }: Recall): Promise<GivenMemory[]> {
    const { brain, scope } = this.#options;
    const question = said.slice(0, QUESTION_CHARS_MAX);
    const least = scoreMin === undefined ? {} : { relevance_min: scoreMin };
    const request = { brain, scope, question, limit: Math.min(limit, ENTRIES_MAX), ...least };
    const { entries, standing } = await this.#call('Recall', request);
    // Nobody asked for memories: words that are only near the question are none, nor is the question asked before.
    const isGiven = ({ fact, weak, text }: Reply): boolean =>
      (fact || !weak) && !words(text).startsWith(words(question));
    const known: GivenMemory[] = entries.filter(isGiven).map(recalled);
    const withStanding = (memories: GivenMemory[]): GivenMemory[] => {
      const shown = memories.map(({ text }) => words(text));
      const isNew = ({ text }: Reply): boolean => !shown.some((known) => known.includes(words(text)));
      return [...standing.filter(isNew).slice(0, STANDING_MAX).map(recalled), ...memories];
    };
    if (!graph && !explain) return withStanding(known.slice(0, limit));
    // The parts of scores, and memories of what is related to the question's names.
    const search = { brain, scope, query: question, limit, threshold: scoreMin ?? 0, graph, explain };
    const { hits } = await this.#call('SearchFacts', search);
    const found: GivenMemory[] = hits.filter((hit: Reply) => !hit.fact.quarantined).map(given);
    const parts = new Map(found.map((hit) => [hit.id, hit.parts]));
    const ids = new Set(known.map((memory: GivenMemory) => memory.id));
    const related = found.filter((hit) => hit.via !== '' && !ids.has(hit.id));
    const explained = known.map((memory: GivenMemory) => ({ ...memory, parts: parts.get(memory.id) ?? {} }));
    return withStanding([...explained, ...related].slice(0, limit));
  }

  /** Stores a turn, after those that wait. It waits, too, if this fails and `turn.refusal` is null. */
  async remember(turn: Turn): Promise<void> {
    if (this.pending.length >= PENDING_MAX) {
      this.#refuse(turn, new AmemError(`the turn is not kept: ${PENDING_MAX} turns wait for the daemon already`));
    } else {
      this.pending.push(turn);
      await this.flush();
    }
    if (turn.refusal) throw turn.refusal;
  }

  /** Stores the turns that wait. */
  async flush(): Promise<void> {
    for (let turn = this.pending[0]; turn; turn = this.pending[0]) {
      try {
        turn.outcome = await this.#store(turn);
      } catch (error) {
        if (!(error instanceof Refused) || !FINAL.includes(error.code)) throw error;
        this.#refuse(turn, error);
      }
      this.#sent.delete(turn.key);
      this.pending.shift();
    }
  }

  /** Closes the session, and a client that this object made. */
  async close(): Promise<void> {
    try {
      if (this.sessionId)
        await this.#call('CloseSession', {
          brain: this.#options.brain,
          session_id: this.sessionId,
          ...(await this.#by()),
        });
      this.sessionId = 0;
    } finally {
      if (!(this.#options.client instanceof Client)) {
        this.#client?.close();
        this.#client = undefined;
      }
    }
  }

  #refuse(turn: Turn, refusal: AmemError): void {
    turn.refusal = refusal;
    this.refused.push(turn);
    if (this.refused.length > PENDING_MAX) this.refused.shift();
  }

  async #store(turn: Turn): Promise<Outcome> {
    const request = this.#sent.get(turn.key) ?? (await this.#request(turn));
    this.#sent.set(turn.key, request);
    try {
      return outcome(await this.#call('AddFacts', request));
    } catch (error) {
      if (!(error instanceof NotFound) || error.reason !== 'UNKNOWN_SESSION') throw error;
    }
    // The brain is another one now. Nothing is stored under this key yet.
    this.sessionId = 0;
    this.#opening = newRequestId();
    const again = await this.#request(turn);
    this.#sent.set(turn.key, again);
    return outcome(await this.#call('AddFacts', again));
  }

  async #request(turn: Turn): Promise<Message> {
    const { brain, scope, metadata, assistantFacts } = this.#options;
    const messages = [{ role: USER, text: turn.said, time: timestamp(turn.saidMicros) }];
    if (turn.answer !== null)
      messages.push({ role: ASSISTANT, text: turn.answer, time: timestamp(turn.answeredMicros) });
    return {
      brain,
      scope,
      messages,
      idempotency_key: turn.key,
      session_id: await this.#session(),
      assistant_facts: assistantFacts,
      ...(metadata && Object.keys(metadata).length > 0 ? { metadata_json: stringify(metadata) } : {}),
      ...(await this.#by(turn.key)),
    };
  }

  /** The session, opened if it is not yet; 0 if there can be none. */
  async #session(): Promise<number> {
    if (this.sessionId || !this.#hasSessions) return this.sessionId;
    const { brain, session } = this.#options;
    try {
      const opened = await this.#call('OpenSession', { brain, key: session, ...(await this.#by(this.#opening)) });
      this.sessionId = opened.session_id;
    } catch (error) {
      // Fact memory makes its brain at the first use, sessions do not: the next turn has one.
      if (error instanceof NotFound) return 0;
      // Tokens with a scope call fact memory alone.
      if (!(error instanceof Refused) || error.code !== 'PERMISSION_DENIED') throw error;
      this.#hasSessions = false;
    }
    return this.sessionId;
  }

  async #by(requestId = newRequestId()): Promise<Message> {
    return { options: { agent: (await this.#connected()).agent, request_id: requestId } };
  }

  async #connected(): Promise<Client> {
    const { client } = this.#options;
    this.#client ??= client instanceof Client ? client : await client();
    return this.#client;
  }

  /** A call. While the daemon is silent it is tried once, so that a conversation goes on without delay. */
  async #call(name: string, request: Message): Promise<Reply> {
    const client = await this.#connected();
    try {
      const answer = await client['caller'].call(name, request, this.#answers ? this.#options.retryFor : 0);
      this.#answers = true;
      return answer;
    } catch (error) {
      if (!(error instanceof AmemError)) throw new AmemError(`the client of the memory cannot call: ${String(error)}`);
      this.#answers = !(error instanceof Refused) || error.code !== 'UNAVAILABLE';
      throw error;
    }
  }
}

/** A text without case, punctuation and spaces. */
const words = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).join(' ');

const recalled = (entry: Reply): GivenMemory => ({
  id: entry.fact ? entry.fact.id : entry.id,
  text: entry.text,
  score: entry.relevance,
  kind: entry.fact ? entry.fact.kind : (SOURCES[entry.source as number] ?? 'unknown'),
  eventId: Number(entry.fact ? entry.fact.event_id : entry.event_id),
  saidMicros: micros(entry.happened_at),
  via: '',
  conflictIds: entry.conflict_ids,
  parts: {},
  speaker: entry.speaker,
  untilMicros: entry.until ? micros(entry.until) : null,
  isWeak: entry.weak,
});

function given({ fact, score, via, conflict_ids: conflictIds, parts }: Reply): GivenMemory {
  const isNumber = ([, value]: [string, unknown]): boolean => typeof value === 'number';
  return {
    id: fact.id,
    text: fact.memory,
    score,
    kind: fact.kind,
    eventId: Number(fact.event_id),
    saidMicros: micros(fact.happened_at ?? fact.updated_at),
    via,
    conflictIds,
    parts: Object.fromEntries(Object.entries(parts ?? {}).filter(isNumber)) as Record<string, number>,
  };
}

const formed = (result: Reply): FormedMemory => ({
  event: EVENTS[result.event as number] ?? 'none',
  id: result.id,
  text: result.memory,
  oldText: result._old_memory === undefined ? null : result.old_memory,
  kind: result.kind,
  relations: result.relations.map(({ source, relation, target }: Reply) => ({ source, relation, target })),
  entities: result.entities.map((entity: Reply) => entity.name),
  eventId: Number(result.event_id),
  by: result.why?.by ?? '',
  conflictIds: result.conflict_ids,
  quarantined: result.quarantined,
});

const outcome = (answer: Reply): Outcome => ({
  formed: answer.results.map(formed),
  stages: Object.fromEntries(
    answer.stages.map((stage: Reply) => [
      stage.stage,
      Object.fromEntries(stage.counts.map(({ what, count }: Reply) => [what, Number(count)])),
    ]),
  ),
  rejected: answer.rejected.map(({ text, why }: Reply) => ({ text, why })),
  left: answer.pending.map(({ reason, detail }: Reply) => (detail ? `${reason}: ${detail}` : reason)),
});
