// What the client and the reader give and take.
//
// The rule of 64-bit numbers: what may pass 2^53 is a bigint, always. Those are LSNs, times in microseconds, and
// integers of attributes that a number cannot hold. Ids of events are numbers, as the format bounds them by 2^32.

/** What kind of event. One that has no meaning here is its number in the file, such as "type-200". */
export type EventType = 'fact' | 'decision' | 'inference' | 'correction' | 'skill' | 'episode' | `type-${number}`;
/** What kind of edge, read from source to target. */
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
/** A time that is given: to the millisecond, or exactly. */
export type Time = Date | Micros;
/** A moment that is asked about: an LSN, or a recorded time. */
export type Moment = { lsn: bigint | number } | { time: Time };

/** A time of a brain as a Date, which has milliseconds. */
export function toDate(micros: Micros): Date {
  return new Date(Number(micros / 1000n));
}

/** A time as a brain keeps it. */
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
  throw new RangeError(`"${name}" is none of ${names.join(', ')}`);
}

/** A value of JSON; integers that a number cannot hold are bigints. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** A tie between two events, read from source to target. */
export interface Edge {
  source: number;
  target: number;
  type: EdgeType;
  weight: number;
  createdMicros: Micros;
}

/** One thing that is remembered. */
export interface Event {
  id: number;
  type: EventType;
  text: string;
  session: number;
  /** When it was recorded. */
  createdMicros: Micros;
  /** When it happened, if that was said. */
  eventMicros: Micros | null;
  /** Lowered by corrections, 0 to 1. */
  confidence: number;
  /** What decay has left of the confidence, as of the last decay run. */
  strength: number;
  /** Decay rate per day; 0 is that of the type. */
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
  /** Only if it was asked for. */
  vector: Float32Array | null;
  /** Only if they were asked for: those that start here, then those that end here. */
  edges: Edge[] | null;
}

/** What answers a question, and how well. The parts of a search's score sum to it; of other questions they are 0. */
export interface Hit {
  event: Event;
  score: number;
  textScore: number;
  vectorScore: number;
  neighbourScore: number;
  sessionScore: number;
  /** What was found: the event, or one that it replaced. */
  foundId: number | null;
}

/** An event of a walk, and how it was reached. */
export interface Step {
  event: Event;
  depth: number;
  /** The place of the step from which this one was reached; null of the first. */
  parent: number | null;
  /** What the edge between the two means; null of the first. */
  type: EdgeType | null;
  /** True if that edge leads from this event to its parent. */
  incoming: boolean;
}

/** What was reached, breadth first, the event asked about first. */
export interface Walk {
  steps: Step[];
  /** True if there is more within the depth than was asked for. */
  truncated: boolean;
}

/** What is believed in place of an event. */
export interface Resolved {
  /** The newest head: what is believed now. */
  head: Event;
  /** From the event asked about to the newest head. */
  chain: Event[];
  /** Every head, the newest first. */
  heads: Event[];
  /** True if agents disagree about what replaced the event. */
  contested: boolean;
}

/** Two events that contradict each other, or a belief with several heads: `belief` is null in the first case. */
export interface Conflict {
  events: Event[];
  belief: Event | null;
}

/** An event and its time on the axis that was asked for. */
export interface TimelineEntry {
  timeMicros: Micros;
  event: Event;
}

/** What is known of a conversation or a piece of work. */
export interface Session {
  id: number;
  key: string;
  agent: string;
  openedMicros: Micros;
  /** True if a client opened it; false if it is only known from its events. */
  explicit: boolean;
  lastEventMicros: Micros;
  closedMicros: Micros | null;
  outcome: string;
}

/** An event of a context, or one that had no room. */
export interface ContextItem {
  eventId: number;
  foundId: number;
  explainsId: number | null;
  score: number;
  tokens: number;
}

/** What is known of a question, within a budget of tokens. */
export interface Context {
  text: string;
  tokens: number;
  items: ContextItem[];
  leftOut: ContextItem[];
}

/** An event that a pipeline makes, its score, and where it came from. */
export interface Row {
  event: Event;
  /** The sum of its parts; what the source says, until rows are ranked. */
  score: number;
  /** What its source says it is worth, 0 to 1. */
  found: number;
  foundScore: number;
  confidenceScore: number;
  strengthScore: number;
  recencyScore: number;
  nearnessScore: number;
  /** Which stage made it: 0 for the sources. */
  stage: number;
  /** Edges from the row of a source. */
  depth: number;
  /** The row that it was made of, a place in rows or, from their number on, in origins; null of a source's row. */
  origin: number | null;
  /** The edge by which it was reached from there; null of others. */
  type: EdgeType | null;
  incoming: boolean;
}

/** What comes out of a pipeline. */
export interface Rows {
  rows: Row[];
  /** Rows of earlier stages that these came from. */
  origins: Row[];
  /** True if a traversal found more than its limit allowed. */
  truncated: boolean;
}

/** Where rows of a pipeline come from. */
export type Source =
  | { events: { ids: readonly number[] } }
  | { search: { text?: string; vector?: ArrayLike<number>; where?: Where; limit?: number } }
  | { text: { text: string; where?: Where; limit?: number } }
  | { similar: { event?: number; vector?: ArrayLike<number>; where?: Where; limit?: number; minSimilarity?: number } }
  | { pattern: { where?: Where; order?: Order; axis?: Axis; limit?: number } };

/** What a pipeline does with rows. */
export type Stage =
  | { traverse: { types?: readonly EdgeType[]; follow?: Follow; depth?: number; limit?: number } }
  | { resolve: Record<string, never> }
  | { filter: Where }
  | { rank: Weights }
  | { limit: { count: number } };

/** What rows are ranked by: a weighted sum. */
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

/** In which order events come. */
export type Order = 'newest' | 'oldest' | 'strongest';
/** Which of an event's two times. */
export type Axis = 'recorded' | 'happened';
/** Which way edges are followed. */
export type Follow = 'outgoing' | 'incoming' | 'both';

/** A process that has a file open. */
export interface FileHolder {
  processId: number;
  program: string;
}

/** What was erased is in no file of the daemon's any more. */
export interface Erased {
  /** Episodes whose text may repeat it. */
  episodes: number[];
  /** The generation whose file is the first without it. */
  generation: number;
  /** When the last reader of an earlier file had let go of it; null: somebody has not, or it can't be told. */
  readersGoneMicros: Micros | null;
  /** Who has not, as far as the daemon may see: a `Reader` lets go when it looks for news (`refresh`). */
  holders: FileHolder[];
  /** Why it can't be told, or ''. */
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
  | { kind: 'session-opened'; session: number; values: { key: string; agent: string }; timeMicros: Micros }
  | { kind: 'session-closed'; session: number; values: { outcome: string }; timeMicros: Micros }
  | { kind: 'settings'; attributes: JsonObject }
  | { kind: 'erased'; eventId: number }
  | { kind: 'unknown' };

/** What is believed of an event from a commit on. */
export interface Belief {
  confidence: number;
  decayRate: number;
  pinned: boolean;
  forgotten: boolean;
  compressed: boolean;
}

/** A commit: whole, with all of its changes in order. */
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
 * What a new event has besides its type and text. The edges start at it: `causedBy: a` says that a caused it,
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

/** An event to be added. */
export interface New extends NewFields {
  type: EventType;
  text: string;
}

/** Conditions of a write; ConditionFailed if they do not hold. */
export interface If {
  /** Nothing but uses of events was committed after this LSN. */
  lsn?: bigint | number;
  /** [event, head]: the newest head of the event's chain is this one. */
  head?: readonly [number, number];
}

/** What every write may say. */
export interface WriteOptions {
  /** Of a request that is made again, the id that it had; a new one otherwise. */
  requestId?: string;
  onlyIf?: If;
}

/** Which events are wanted: all that is given must hold. Forgotten and compressed ones only if they are asked for. */
export interface Where {
  types?: readonly EventType[];
  sessions?: readonly number[];
  /** [from, until]: not before, and before; null is open. */
  recorded?: readonly [Time | null, Time | null];
  happened?: readonly [Time | null, Time | null];
  /** [least, most], both included; null is open. */
  confidence?: readonly [number | null, number | null];
  strength?: readonly [number | null, number | null];
  /** Strength is that of this time instead of the last decay run's. */
  strengthAt?: Time;
  /** The text says every one of these words. */
  keyword?: string;
  /** The attributes amem.user, amem.agent and amem.run. */
  user?: string;
  agent?: string;
  run?: string;
  /** Any condition, such as { topic: 'rust', confidence: { gte: 0.5 } }. */
  filter?: JsonObject;
  includeForgotten?: boolean;
  includeCompressed?: boolean;
}
