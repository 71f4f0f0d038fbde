// Conversions between messages and the client's types.

import { parseObject, stringify } from './json';
import {
  EDGE_TYPES,
  EVENT_TYPES,
  toMicros,
  typeName,
  typeNumber,
  type Change,
  type Commit,
  type Conflict,
  type Context,
  type ContextItem,
  type Edge,
  type Erased,
  type Event,
  type Hit,
  type JsonObject,
  type Axis,
  type EdgeType,
  type Follow,
  type Micros,
  type Moment,
  type New,
  type Order,
  type Resolved,
  type Row,
  type Rows,
  type Session,
  type SessionSpan,
  type Source,
  type Stage,
  type Step,
  type Time,
  type TimelineEntry,
  type Walk,
  type Where,
} from './types';
import { commitKind, type Message, type Reply } from './wire';

/** A Timestamp of a message. */
export function micros(time: Reply): Micros {
  return BigInt(time.seconds) * 1_000_000n + BigInt(Math.floor(time.nanos / 1000));
}

export const duration = (millis: number): Message => ({
  seconds: String(Math.floor(millis / 1000)),
  nanos: Math.floor((millis % 1000) * 1_000_000),
});

export const erased = (reply: Reply): Erased => ({
  episodes: reply.episode_ids.map(Number),
  generation: Number(reply.generation),
  readersGoneMicros: reply.readers_gone ? micros(reply.readers_gone) : null,
  holders: reply.holders.map((holder: Reply) => ({ processId: holder.process_id, program: holder.program })),
  readersUnknown: reply.readers_unknown,
});

export function timestamp(time: Time): Message {
  const all = toMicros(time);
  const rest = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return { seconds: String((all - rest) / 1_000_000n), nanos: Number(rest) * 1000 };
}

export const eventType = (name: string): number => typeNumber(EVENT_TYPES, name) + 1;
/** The enums of the protos begin at 1. */
const place = <T>(names: readonly T[], name: T): number => names.indexOf(name) + 1;
export const order = (name: Order = 'newest'): number => place(['newest', 'oldest', 'strongest'], name);
export const axis = (name: Axis): number => place(['recorded', 'happened'], name);
export const follow = (name: Follow): number => place(['outgoing', 'incoming', 'both'], name);
export const edgeTypes = (names: readonly EdgeType[] = []): number[] => names.map(edgeType);
export const edgeType = (name: string): number => typeNumber(EDGE_TYPES, name) + 1;

/** The fields that are not undefined. */
export function given(fields: Message): Message {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function vector(values: ArrayLike<number> | null | undefined): Message | undefined {
  return values ? { values: Array.from(values) } : undefined;
}

export function attributes(value: JsonObject | null | undefined): string {
  return value && Object.keys(value).length > 0 ? stringify(value) : '';
}

export function asOf(moment: Moment | undefined): Message | undefined {
  if (!moment) return undefined;
  return 'lsn' in moment ? { lsn: String(moment.lsn) } : { time: timestamp(moment.time) };
}

export function newEvent(event: New): Message {
  return given({
    type: eventType(event.type),
    text: event.text,
    session_id: event.session,
    confidence: event.confidence,
    event_time: event.eventTime === undefined ? undefined : timestamp(event.eventTime),
    lambda: event.decayRate,
    attributes_json: attributes(event.attributes),
    vector: vector(event.vector),
  });
}

export function selection(where: Where | undefined): Message {
  if (!where) return {};
  const window = (span: Where['recorded']): Message | undefined =>
    span &&
    given({
      from: span[0] === null ? undefined : timestamp(span[0]),
      until: span[1] === null ? undefined : timestamp(span[1]),
    });
  const bounds = (span: Where['confidence']): Message | undefined =>
    span && given({ min: span[0] ?? undefined, max: span[1] ?? undefined });
  return given({
    types: where.types?.map(eventType),
    session_ids: where.sessions,
    recorded: window(where.recorded),
    happened: window(where.happened),
    confidence: bounds(where.confidence),
    strength: bounds(where.strength),
    strength_at: where.strengthAt === undefined ? undefined : timestamp(where.strengthAt),
    keyword: where.keyword,
    scope: given({ user: where.user, agent: where.agent, run: where.run }),
    by: where.by,
    agents: where.agents,
    filter_json: attributes(where.filter),
    now: where.now === undefined ? undefined : timestamp(where.now),
    zone: where.zone,
    include_forgotten: where.includeForgotten,
    include_compressed: where.includeCompressed,
  });
}

export function source(of: Source): Message {
  if ('events' in of) return { events: { event_ids: of.events.ids } };
  if ('text' in of)
    return { text: given({ text: of.text.text, selection: selection(of.text.where), limit: of.text.limit }) };
  if ('search' in of) {
    const { text, vector: like, where, limit } = of.search;
    return { search: given({ text, vector: vector(like), selection: selection(where), limit }) };
  }
  if ('similar' in of) {
    const { event: like, vector: numbers, where, limit, minSimilarity } = of.similar;
    const fields = {
      event_id: like,
      vector: vector(numbers),
      selection: selection(where),
      limit,
      min_similarity: minSimilarity,
    };
    return { similar: given(fields) };
  }
  const { where, order: by, axis: along = 'recorded', limit } = of.pattern;
  return { pattern: given({ selection: selection(where), order: order(by), axis: axis(along), limit }) };
}

export function stage(of: Stage): Message {
  if ('resolve' in of) return { resolve: {} };
  if ('filter' in of) return { filter: selection(of.filter) };
  if ('limit' in of) return { limit: { count: of.limit.count } };
  if ('traverse' in of) {
    const { types, follow: which = 'outgoing', depth, limit } = of.traverse;
    return { traverse: given({ types: edgeTypes(types), follow: follow(which), depth, limit }) };
  }
  const {
    found,
    confidence,
    strength,
    recency,
    nearness,
    halfLifeDays,
    axis: along = 'recorded',
    strengthAt,
  } = of.rank;
  return {
    rank: given({
      found_weight: found,
      confidence_weight: confidence,
      strength_weight: strength,
      recency_weight: recency,
      nearness_weight: nearness,
      half_life_days: halfLifeDays,
      axis: axis(along),
      strength_at: strengthAt === undefined ? undefined : timestamp(strengthAt),
    }),
  };
}

export function rows(reply: Reply): Rows {
  return { rows: reply.rows.map(row), origins: reply.origins.map(row), truncated: reply.truncated };
}

function row(reply: Reply): Row {
  return {
    event: event(reply.event),
    score: reply.score,
    found: reply.found,
    foundScore: reply.found_score,
    confidenceScore: reply.confidence_score,
    strengthScore: reply.strength_score,
    recencyScore: reply.recency_score,
    nearnessScore: reply.nearness_score,
    stage: reply.stage,
    depth: reply.depth,
    origin: reply._from === undefined ? null : reply.from,
    type: reply.type === 0 ? null : typeName(EDGE_TYPES, reply.type - 1),
    incoming: reply.incoming,
  };
}

export function edge(reply: Reply): Edge {
  return {
    source: Number(reply.source),
    target: Number(reply.target),
    type: typeName(EDGE_TYPES, reply.type - 1),
    weight: reply.weight,
    createdMicros: micros(reply.created_at),
  };
}

function numbers(reply: Reply): Float32Array | null {
  return reply ? Float32Array.from(reply.values as number[]) : null;
}

export function event(reply: Reply, withEdges = false): Event {
  return {
    id: Number(reply.id),
    type: typeName(EVENT_TYPES, reply.type - 1),
    text: reply.text,
    session: reply.session_id,
    // A stub has only its id.
    createdMicros: reply.created_at ? micros(reply.created_at) : 0n,
    eventMicros: reply.event_time ? micros(reply.event_time) : null,
    confidence: reply.confidence,
    strength: reply.strength,
    decayRate: reply.lambda,
    accessCount: reply.access_count,
    accessedMicros: reply.last_accessed ? micros(reply.last_accessed) : 0n,
    pinned: reply.pinned,
    forgotten: reply.forgotten,
    compressed: reply.compressed,
    erased: reply.erased,
    attributes: parseObject(reply.attributes_json),
    sessionKey: reply.session_key,
    hasVector: reply.vector_present || Boolean(reply.vector),
    vector: numbers(reply.vector),
    edges: withEdges ? reply.edges.map(edge) : null,
    by: reply.by,
    agent: reply.agent,
    reason: reply.reason,
  };
}

export function step(reply: Reply): Step {
  const isFirst = reply._parent === undefined;
  return {
    event: event(reply.event),
    depth: reply.depth,
    parent: isFirst ? null : reply.parent,
    type: isFirst ? null : typeName(EDGE_TYPES, reply.type - 1),
    incoming: reply.incoming,
    contested: reply.contested,
    superseded: reply.superseded,
  };
}

export function walk(reply: Reply): Walk {
  return { steps: reply.steps.map(step), truncated: reply.truncated };
}

/** A hit with a single score. */
export function hit(of: Reply, score: number, relevance: number): Hit {
  const parts = { textScore: 0, vectorScore: 0, neighbourScore: 0, sessionScore: 0 };
  const factors = { speakerFactor: 1, timeFactor: 1, recencyFactor: 1 };
  const marks = { weak: false, equalTexts: 1, newerValueId: null, foundId: null, contested: false, superseded: false };
  return { event: event(of), score, relevance, ...parts, ...factors, ...marks };
}

export function searchHit(reply: Reply): Hit {
  return {
    event: event(reply.event),
    score: reply.score,
    textScore: reply.text_score,
    vectorScore: reply.vector_score,
    neighbourScore: reply.neighbour_score,
    sessionScore: reply.session_score,
    speakerFactor: reply.speaker_factor,
    timeFactor: reply.time_factor,
    recencyFactor: reply.recency_factor,
    relevance: reply.relevance.value,
    weak: reply.relevance.weak,
    equalTexts: reply.equal_texts,
    newerValueId: reply._newer_value_id === undefined ? null : Number(reply.newer_value_id),
    foundId: Number(reply.found_id),
    contested: reply.contested,
    superseded: reply.superseded,
  };
}

export function resolved(reply: Reply): Resolved {
  const events = (list: Reply[]): Event[] => list.map((one) => event(one));
  const { contested } = reply;
  return { head: event(reply.head), chain: events(reply.chain), heads: events(reply.heads), contested };
}

export function conflict(reply: Reply): Conflict {
  if (reply.contradiction) {
    return { events: [event(reply.contradiction.source), event(reply.contradiction.target)], belief: null };
  }
  return { events: reply.contested.heads.map((one: Reply) => event(one)), belief: event(reply.contested.belief) };
}

export function timelineEntry(reply: Reply): TimelineEntry {
  return { timeMicros: micros(reply.time), event: event(reply.event) };
}

export function session(reply: Reply): Session {
  return {
    id: reply.id,
    key: reply.key,
    agent: reply.agent,
    openedMicros: micros(reply.opened_at),
    explicit: reply.explicit,
    lastEventMicros: micros(reply.last_event_at),
    closedMicros: reply.closed_at ? micros(reply.closed_at) : null,
    outcome: reply.outcome,
    spans: reply.spans.map(span),
    spanCount: Number(reply.span_count),
  };
}

function span(reply: Reply): SessionSpan {
  return {
    openedMicros: micros(reply.opened_at),
    closedMicros: reply.closed_at ? micros(reply.closed_at) : null,
    outcome: reply.outcome,
    eventCount: Number(reply.event_count),
    episodeIds: reply.episode_ids.map(Number),
  };
}

export function context(reply: Reply): Context {
  const item = (one: Reply): ContextItem => ({
    eventId: Number(one.event_id),
    foundId: Number(one.found_id),
    explainsId: one._explains_id === undefined ? null : Number(one.explains_id),
    score: one.score,
    tokens: one.tokens,
    by: one.by,
    agent: one.agent,
    reason: one.reason,
    createdMicros: one.created_at ? micros(one.created_at) : 0n,
    contested: one.contested,
    superseded: one.superseded,
    excerpt: one.excerpt,
    type: typeName(EVENT_TYPES, one.type - 1),
    confidence: one.confidence,
  });
  const [items, leftOut] = [reply.items, reply.left_out].map((part: Reply[]) => part.map(item)) as [ContextItem[], ContextItem[]];
  return { text: reply.text, tokens: reply.tokens, items, leftOut, relevance: reply.relevance };
}

/** The commit in all of its messages. */
export function commit(parts: readonly Reply[]): Commit {
  const last = parts.at(-1);
  return {
    lsn: BigInt(last.moment.lsn),
    instance: last.moment.instance,
    timeMicros: micros(last.moment.time),
    kind: commitKind(last.kind),
    principal: last.principal,
    agent: last.agent,
    changes: parts.flatMap((part) => part.changes.map(change)),
  };
}

function change(reply: Reply): Change {
  const which: string | undefined = reply.change;
  const one = which === undefined ? undefined : reply[which];
  switch (which) {
    case 'event':
      return { kind: 'event', event: event(one) };
    case 'edge':
      return { kind: 'edge', edge: edge(one) };
    case 'retracted_edge':
      return { kind: 'retracted-edge', edge: edge({ ...one, created_at: one.created_at ?? { seconds: 0, nanos: 0 } }) };
    case 'belief': {
      const { confidence, pinned, forgotten, compressed } = one;
      const values = { confidence, decayRate: one.lambda, pinned, forgotten, compressed };
      return { kind: 'belief', eventId: Number(one.event_id), values };
    }
    case 'attributes':
      return { kind: 'attributes', eventId: Number(one.event_id), attributes: parseObject(one.attributes_json) };
    case 'vector':
      return { kind: 'vector', eventId: Number(one.event_id), vector: numbers(one.vector) };
    case 'touch': {
      const uses = new Map<number, number>(one.touched.map((used: Reply) => [Number(used.event_id), used.count]));
      return { kind: 'touch', uses, timeMicros: micros(one.time) };
    }
    case 'decay':
      return { kind: 'decay', timeMicros: micros(one.time) };
    case 'session_opened': {
      const values = { key: one.key, agent: one.agent, reopened: one.reopened };
      return { kind: 'session-opened', session: one.session_id, values, timeMicros: micros(one.time) };
    }
    case 'session_closed': {
      const values = { outcome: one.outcome };
      return { kind: 'session-closed', session: one.session_id, values, timeMicros: micros(one.time) };
    }
    case 'settings_json':
      return { kind: 'settings', attributes: parseObject(one) };
    case 'erased_event_id':
      return { kind: 'erased', eventId: Number(one) };
    default:
      return { kind: 'unknown' };
  }
}
