// Arguments and results of the client and the reader.
//
// 64-bit numbers: a value that may pass 2^53 is always a bigint: LSNs, times in microseconds, and integers in
// attributes that a number cannot hold. Ids of events are numbers, because the format bounds them by 2^32.

/** The type of an event. An unknown one is its number in the file, such as "type-200". */
export type EventType = 'fact' | 'decision' | 'inference' | 'correction' | 'skill' | 'episode' | `type-${number}`;
/** The type of an edge, read from source to target. */
export type EdgeType =
  | 'caused-by'
  | 'supports'
  | 'contradicts'
  | 'supersedes'
  | 'related-to'
  | 'part-of'
  | 'temporal-next'
  | `type-${number}`;

export const EVENT_TYPES: readonly EventType[] = ['fact', 'decision', 'inference', 'correction', 'skill', 'episode'];
export const EDGE_TYPES: readonly EdgeType[] = [
  'caused-by',
  'supports',
  'contradicts',
  'supersedes',
  'related-to',
  'part-of',
  'temporal-next',
];

/** Microseconds since 1970 UTC. */
export type Micros = bigint;
/** A time as an argument: to the millisecond, or in exact microseconds. */
export type Time = Date | Micros;
/** A moment of the past: an LSN, or a recorded time. */
export type Moment = { lsn: bigint | number } | { time: Time };

/** Microseconds as a Date, which has milliseconds. */
export function toDate(micros: Micros): Date {
  return new Date(Number(micros / 1000n));
}

/** A time as microseconds. */
export function toMicros(time: Time): Micros {
  if (typeof time === 'bigint') return time;
  if (Number.isNaN(time.getTime())) throw new RangeError('an invalid Date');
  return BigInt(time.getTime()) * 1000n;
}

/** The name of a type. */
export function typeName<T extends string>(names: readonly T[], number: number): T {
  return names[number] ?? (`type-${number}` as T);
}

/** The number of a type, by its name. */
export function typeNumber(names: readonly string[], name: string): number {
  const known = names.indexOf(name);
  if (known >= 0) return known;
  const number = /^type-(\d{1,3})$/.exec(name)?.[1];
  if (number !== undefined && Number(number) <= 255) return Number(number);
  throw new RangeError(`"${name}" is not one of ${names.join(', ')}`);
}

/** A value of JSON; integers that a number cannot hold are bigints. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** An edge between two events, read from source to target. */
export interface Edge {
  source: number;
  target: number;
  type: EdgeType;
  weight: number;
  createdMicros: Micros;
}

/** One record of a brain. */
export interface Event {
  id: number;
  type: EventType;
  text: string;
  session: number;
  /** When it was recorded. */
  createdMicros: Micros;
  /** When it happened, if given. */
  eventMicros: Micros | null;
  /** 0 to 1; corrections lower it. */
  confidence: number;
  /** Confidence after decay, as of the last decay run. */
  strength: number;
  /** Per day; 0 for the rate of the type. */
  decayRate: number;
  accessCount: number;
  accessedMicros: Micros;
  pinned: boolean;
  forgotten: boolean;
  compressed: boolean;
  erased: boolean;
  attributes: JsonObject;
  sessionKey: string;
  hasVector: boolean;
  /** Only if requested. */
  vector: Float32Array | null;
  /** Only if requested: outgoing edges, then incoming ones. */
  edges: Edge[] | null;
  /** The principal that recorded it, such as `uid:1000`, as its first brain names it; empty if unknown. */
  by: string;
  /** The agent that recorded it, by the name it gave. */
  agent: string;
  /** Why it replaced another event. */
  reason: string;
}

/**
 * A hit of a query, and its score. The parts of a search's score sum to it, times its factors; for other queries they are 0.
 * Scores compare the hits of one answer, `relevance` those of all questions: about 0.7 and more answers the question, and
 * where the brain does not know the answer the best has less than 0.6.
 */
export interface Hit {
  event: Event;
  score: number;
  textScore: number;
  vectorScore: number;
  neighbourScore: number;
  sessionScore: number;
  /** More than 1 if the question means who spoke. */
  speakerFactor: number;
  /** More than 1 if the question names a time near the event. */
  timeFactor: number;
  /** Less than 1 with a half-life, by age. */
  recencyFactor: number;
  /** How well it answers the question, 0 to 1. */
  relevance: number;
  /** It has none of the question's words: its vector, its neighbours or its session found it. */
  weak: boolean;
  /** How many events with this text were found; this is the newest. */
  equalTexts: number;
  /** A newer hit whose text differs in one value only, so that this one may be outdated. */
  newerValueId: number | null;
  /** The event that matched: `event`, or one that it replaced. */
  foundId: number | null;
  /** The event belongs to a belief with several heads. */
  contested: boolean;
  /** Another event replaces it. */
  superseded: boolean;
}

/** An event of a walk, and how it was reached. */
export interface Step {
  event: Event;
  depth: number;
  /** The index of the step from which this one was reached; null for the first. */
  parent: number | null;
  /** The type of the edge between the two; null for the first. */
  type: EdgeType | null;
  /** True if that edge leads from this event to its parent. */
  incoming: boolean;
  /** The event belongs to a belief with several heads. */
  contested: boolean;
  /** Another event replaces it. */
  superseded: boolean;
}

/** The events reached, breadth first, from the start event on. */
export interface Walk {
  steps: Step[];
  /** True if the limit cut off events within the depth. */
  truncated: boolean;
}

/** The result of `resolve`. */
export interface Resolved {
  /** The newest head: what is believed now. */
  head: Event;
  /** From the event to the newest head. */
  chain: Event[];
  /** Every head, the newest first. */
  heads: Event[];
  /** True if there are several heads. */
  contested: boolean;
}

/** Two events that contradict each other, with `belief` null, or a belief with several heads. */
export interface Conflict {
  events: Event[];
  belief: Event | null;
}

/** An event and its time on the requested axis. */
export interface TimelineEntry {
  timeMicros: Micros;
  event: Event;
}

/** One stay in a session: from its opening, or from its first use after a close, to the next close. */
export interface SessionSpan {
  openedMicros: Micros;
  closedMicros: Micros | null;
  outcome: string;
  /** Events recorded in it, hidden ones and episodes included. */
  eventCount: number;
  /** The episodes that cover some of its events. */
  episodeIds: number[];
}

/** A conversation or a piece of work. Its times and its outcome are those of its latest span. */
export interface Session {
  id: number;
  key: string;
  agent: string;
  openedMicros: Micros;
  /** True if a client opened it; false if only its events mention it. */
  explicit: boolean;
  lastEventMicros: Micros;
  closedMicros: Micros | null;
  outcome: string;
  /** Its newest spans, the latest one last: at most 10,000, in a list of sessions 100. */
  spans: SessionSpan[];
  /** The number of all of them. */
  spanCount: number;
}

/** An event of a context, or one left out. */
export interface ContextItem {
  eventId: number;
  foundId: number;
  explainsId: number | null;
  score: number;
  tokens: number;
  by: string;
  agent: string;
  /** Empty for an event that was left out. */
  reason: string;
  createdMicros: Micros;
  /** The event belongs to a belief with several heads. */
  contested: boolean;
  /** Another event replaces it. */
  superseded: boolean;
  /** The text shows only a part of the event's text. */
  excerpt: boolean;
  type: EventType;
  confidence: number;
}

/** The result of `context`, within its token budget. */
export interface Context {
  text: string;
  tokens: number;
  items: ContextItem[];
  leftOut: ContextItem[];
  /** The greatest of the first 20 hits. */
  relevance: number;
}

/** A row of a pipeline: an event, its score, and its origin. */
export interface Row {
  event: Event;
  /** The sum of its parts; the source's score until rows are ranked. */
  score: number;
  /** The source's score, 0 to 1. */
  found: number;
  foundScore: number;
  confidenceScore: number;
  strengthScore: number;
  recencyScore: number;
  nearnessScore: number;
  /** The stage that produced it; 0 for the sources. */
  stage: number;
  /** Number of edges from the source's row. */
  depth: number;
  /** The row from which it was produced: an index into rows, then into origins; null for a source's row. */
  origin: number | null;
  /** The type of the edge from there; null if there is none. */
  type: EdgeType | null;
  incoming: boolean;
}

/** The result of a pipeline. */
export interface Rows {
  rows: Row[];
  /** The rows of earlier stages from which these were produced. */
  origins: Row[];
  /** True if a traversal found more than its limit allowed. */
  truncated: boolean;
}

/** A source of rows of a pipeline. */
export type Source =
  | { events: { ids: readonly number[] } }
  | { search: { text?: string; vector?: ArrayLike<number>; where?: Where; limit?: number } }
  | { text: { text: string; where?: Where; limit?: number } }
  | { similar: { event?: number; vector?: ArrayLike<number>; where?: Where; limit?: number; minSimilarity?: number } }
  | { pattern: { where?: Where; order?: Order; axis?: Axis; limit?: number } };

/** A transformation of rows of a pipeline. */
export type Stage =
  | { traverse: { types?: readonly EdgeType[]; follow?: Follow; depth?: number; limit?: number } }
  | { resolve: Record<string, never> }
  | { filter: Where }
  | { rank: Weights }
  | { limit: { count: number } };

/** The weights of the sum that ranks rows. */
export interface Weights {
  found?: number;
  confidence?: number;
  strength?: number;
  recency?: number;
  nearness?: number;
  halfLifeDays?: number;
  axis?: Axis;
  strengthAt?: Time;
}

/** The order of events. */
export type Order = 'newest' | 'oldest' | 'strongest';
/** One of an event's two times. */
export type Axis = 'recorded' | 'happened';
/** The direction in which edges are followed. */
export type Follow = 'outgoing' | 'incoming' | 'both';

/** A process that has a file open. */
export interface FileHolder {
  processId: number;
  program: string;
}

/** The result of an erase: no file of the daemon has the content any more. */
export interface Erased {
  /** Episodes whose text may repeat the erased content. */
  episodes: number[];
  /** The first generation without the content. */
  generation: number;
  /** When the last reader of an earlier file released it; null if one has not, or if it is unknown. */
  readersGoneMicros: Micros | null;
  /** Processes that have not, as far as the daemon can see. A `Reader` releases the file at its next `refresh`. */
  holders: FileHolder[];
  /** Why it is unknown, or ''. */
  readersUnknown: string;
}

/** One change of a commit. */
export type Change =
  | { kind: 'event'; event: Event }
  | { kind: 'edge' | 'retracted-edge'; edge: Edge }
  | { kind: 'belief'; eventId: number; values: Belief }
  | { kind: 'attributes'; eventId: number; attributes: JsonObject }
  | { kind: 'vector'; eventId: number; vector: Float32Array | null }
  | { kind: 'touch'; uses: Map<number, number>; timeMicros: Micros }
  | { kind: 'decay'; timeMicros: Micros }
  | { kind: 'session-opened'; session: number; values: { key: string; agent: string; reopened: boolean }; timeMicros: Micros }
  | { kind: 'session-closed'; session: number; values: { outcome: string }; timeMicros: Micros }
  | { kind: 'settings'; attributes: JsonObject }
  | { kind: 'erased'; eventId: number }
  | { kind: 'unknown' };

/** Confidence and flags of an event from a commit on. */
export interface Belief {
  confidence: number;
  decayRate: number;
  pinned: boolean;
  forgotten: boolean;
  compressed: boolean;
}

/** A whole commit, with all of its changes in order. */
export interface Commit {
  lsn: bigint;
  instance: string;
  timeMicros: Micros;
  kind: string;
  principal: string;
  agent: string;
  changes: Change[];
}

/** An event by its id or, within a batch, the new event itself. */
export type End = number | New;
export type Ends = End | readonly End[];

/**
 * The optional fields of a new event. Its edges start at it: `causedBy: a` means that a caused it,
 * `supports: a` that a is evidence for it, `partOf: a` that it belongs to a, `follows: a` that it came after a.
 */
export interface NewFields {
  confidence?: number;
  session?: number;
  attributes?: JsonObject;
  eventTime?: Time;
  vector?: ArrayLike<number>;
  decayRate?: number;
  causedBy?: Ends;
  supports?: Ends;
  contradicts?: Ends;
  supersedes?: Ends;
  relatedTo?: Ends;
  partOf?: Ends;
  follows?: Ends;
}

/** An event to add. */
export interface New extends NewFields {
  type: EventType;
  text: string;
}

/** Preconditions of a write; ConditionFailed if they do not hold. */
export interface If {
  /** Only touches were committed after this LSN. */
  lsn?: bigint | number;
  /** [event, head]: the newest head of the event's chain is this one. */
  head?: readonly [number, number];
}

/** Options of every write. */
export interface WriteOptions {
  /** For a retry, the id of the original request; default: a new one. */
  requestId?: string;
  onlyIf?: If;
}

/** A filter of events: all conditions must hold. It excludes forgotten and compressed events by default. */
export interface Where {
  types?: readonly EventType[];
  sessions?: readonly number[];
  /** [from, until]: from inclusive, until exclusive; null is open. */
  recorded?: readonly [Time | null, Time | null];
  happened?: readonly [Time | null, Time | null];
  /** [minimum, maximum], both inclusive; null is open. */
  confidence?: readonly [number | null, number | null];
  strength?: readonly [number | null, number | null];
  /** Computes strength at this time instead of the last decay run. */
  strengthAt?: Time;
  /** The text contains all of these words. */
  keyword?: string;
  /** The attributes amem.user, amem.agent and amem.run. */
  user?: string;
  agent?: string;
  run?: string;
  /** Principals, such as `uid:1000`, and agents: one of each list given recorded the event. */
  by?: readonly string[];
  agents?: readonly string[];
  /** Conditions on attributes and fields, such as { topic: 'rust', confidence: { gte: 0.5 } }. */
  filter?: JsonObject;
  /** What relative times of the filter refer to ("last Tuesday"); without it the daemon refuses them. */
  now?: Time;
  /** The zone of days and of times without an offset in the filter, such as "Europe/Berlin" or "+01:00". */
  zone?: string;
  includeForgotten?: boolean;
  includeCompressed?: boolean;
}
