// Between messages and what the client gives and takes.

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
  type Source,
  type Stage,
  type Step,
  type Time,
  type TimelineEntry,
  type Walk,
  type Where,
} from './types';
import { commitKind, type Message, type Told } from './wire';

/** A Timestamp of a message. */
export function micros(time: Told): Micros {
  return BigInt(time.seconds) * 1_000_000n + BigInt(Math.floor(time.nanos / 1000));
}

export const duration = (millis: number): Message => ({
  seconds: String(Math.floor(millis / 1000)),
  nanos: Math.floor((millis % 1000) * 1_000_000),
});

export const erased = (told: Told): Erased => ({
  episodes: told.episode_ids.map(Number),
  generation: Number(told.generation),
  readersGoneMicros: told.readers_gone ? micros(told.readers_gone) : null,
  holders: told.holders.map((holder: Told) => ({ processId: holder.process_id, program: holder.program })),
  readersUnknown: told.readers_unknown,
});

export function timestamp(time: Time): Message {
  const all = toMicros(time);
  const rest = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return { seconds: String((all - rest) / 1_000_000n), nanos: Number(rest) * 1000 };
}

export const eventType = (name: string): number => typeNumber(EVENT_TYPES, name) + 1;
/** In the protos, the first of each is 1. */
const place = <T>(names: readonly T[], name: T): number => names.indexOf(name) + 1;
export const order = (name: Order = 'newest'): number => place(['newest', 'oldest', 'strongest'], name);
export const axis = (name: Axis): number => place(['recorded', 'happened'], name);
export const follow = (name: Follow): number => place(['outgoing', 'incoming', 'both'], name);
export const edgeTypes = (names: readonly EdgeType[] = []): number[] => names.map(edgeType);
export const edgeType = (name: string): number => typeNumber(EDGE_TYPES, name) + 1;

/** The fields that say something. */
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
    filter_json: attributes(where.filter),
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

export function rows(told: Told): Rows {
  return { rows: told.rows.map(row), origins: told.origins.map(row), truncated: told.truncated };
}

function row(told: Told): Row {
  return {
    event: event(told.event),
    score: told.score,
    found: told.found,
    foundScore: told.found_score,
    confidenceScore: told.confidence_score,
    strengthScore: told.strength_score,
    recencyScore: told.recency_score,
    nearnessScore: told.nearness_score,
    stage: told.stage,
    depth: told.depth,
    origin: told._from === undefined ? null : told.from,
    type: told.type === 0 ? null : typeName(EDGE_TYPES, told.type - 1),
    incoming: told.incoming,
  };
}

export function edge(told: Told): Edge {
  return {
    source: Number(told.source),
    target: Number(told.target),
    type: typeName(EDGE_TYPES, told.type - 1),
    weight: told.weight,
    createdMicros: micros(told.created_at),
  };
}

function numbers(told: Told): Float32Array | null {
  return told ? Float32Array.from(told.values as number[]) : null;
}

export function event(told: Told, withEdges = false): Event {
  return {
    id: Number(told.id),
    type: typeName(EVENT_TYPES, told.type - 1),
    text: told.text,
    session: told.session_id,
    // Of a stub nothing is told but its id.
    createdMicros: told.created_at ? micros(told.created_at) : 0n,
    eventMicros: told.event_time ? micros(told.event_time) : null,
    confidence: told.confidence,
    strength: told.strength,
    decayRate: told.lambda,
    accessCount: told.access_count,
    accessedMicros: told.last_accessed ? micros(told.last_accessed) : 0n,
    pinned: told.pinned,
    forgotten: told.forgotten,
    compressed: told.compressed,
    erased: told.erased,
    attributes: parseObject(told.attributes_json),
    sessionKey: told.session_key,
    hasVector: told.has_vector || Boolean(told.vector),
    vector: numbers(told.vector),
    edges: withEdges ? told.edges.map(edge) : null,
  };
}

export function step(told: Told): Step {
  const isFirst = told._parent === undefined;
  return {
    event: event(told.event),
    depth: told.depth,
    parent: isFirst ? null : told.parent,
    type: isFirst ? null : typeName(EDGE_TYPES, told.type - 1),
    incoming: told.incoming,
  };
}

export function walk(told: Told): Walk {
  return { steps: told.steps.map(step), truncated: told.truncated };
}

/** A hit of one score. */
export function hit(of: Told, score: number): Hit {
  return { event: event(of), score, textScore: 0, vectorScore: 0, neighbourScore: 0, sessionScore: 0, foundId: null };
}

export function searchHit(told: Told): Hit {
  return {
    event: event(told.event),
    score: told.score,
    textScore: told.text_score,
    vectorScore: told.vector_score,
    neighbourScore: told.neighbour_score,
    sessionScore: told.session_score,
    foundId: Number(told.found_id),
  };
}

export function resolved(told: Told): Resolved {
  const events = (list: Told[]): Event[] => list.map((one) => event(one));
  return { head: event(told.head), chain: events(told.chain), heads: events(told.heads), contested: told.contested };
}

export function conflict(told: Told): Conflict {
  if (told.contradiction) {
    return { events: [event(told.contradiction.source), event(told.contradiction.target)], belief: null };
  }
  return { events: told.contested.heads.map((one: Told) => event(one)), belief: event(told.contested.belief) };
}

export function timelineEntry(told: Told): TimelineEntry {
  return { timeMicros: micros(told.time), event: event(told.event) };
}

export function session(told: Told): Session {
  return {
    id: told.id,
    key: told.key,
    agent: told.agent,
    openedMicros: micros(told.opened_at),
    explicit: told.explicit,
    lastEventMicros: micros(told.last_event_at),
    closedMicros: told.closed_at ? micros(told.closed_at) : null,
    outcome: told.outcome,
  };
}

export function context(told: Told): Context {
  const item = (one: Told): ContextItem => ({
    eventId: Number(one.event_id),
    foundId: Number(one.found_id),
    explainsId: one._explains_id === undefined ? null : Number(one.explains_id),
    score: one.score,
    tokens: one.tokens,
  });
  return { text: told.text, tokens: told.tokens, items: told.items.map(item), leftOut: told.left_out.map(item) };
}

/** A commit of all of its messages. */
export function commit(parts: readonly Told[]): Commit {
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

function change(told: Told): Change {
  const which: string | undefined = told.change;
  const one = which === undefined ? undefined : told[which];
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
      const uses = new Map<number, number>(one.touched.map((used: Told) => [Number(used.event_id), used.count]));
      return { kind: 'touch', uses, timeMicros: micros(one.time) };
    }
    case 'decay':
      return { kind: 'decay', timeMicros: micros(one.time) };
    case 'session_opened': {
      const values = { key: one.key, agent: one.agent };
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
