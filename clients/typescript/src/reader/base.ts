// The base of a brain's file: the part that never changes (docs/FORMAT.md, from "Header" to "Sections").
//
// Opening checks the header, the section table and the identity; every access checks bounds and numbers. Not here: the
// journal (`journal`, `graph`), and sections that are indexes.

import { DamagedFile, NewerFile } from '../errors';
import type { Session } from '../types';
import {
  ATTRIBUTES_BYTES_MAX,
  DIMENSION_MAX,
  EDGES_MAX,
  NAME_BYTES_MAX,
  NODES_MAX,
  Numbers,
  ORIGIN_BYTES_MAX,
  SECTIONS_MAX,
  Span,
  TEXT_BYTES_MAX,
  asNumber,
  utf8,
  type File,
} from './file';
import { BadBlock, decompress } from './lz4';

const HEADER = 64;
/** Header flags of what a reader must know; this one knows none. */
const MUST_READ = 0x00ff0000;
const NODE = 72;
const EDGE = 32;
export const PAGE = 4096;
export const JOURNAL_LENGTH = 1n << 62n;
const PADDING = 0x40;
const IDENTITY = 0x41;
const SESSIONS = 0x43;
const ACTORS = 0x44;
const ATTRIBUTES = 0x45;
const AUTHORS = 0x58;
const EVENT_TIMES = 0x46;
const ADJACENCY = 0x4b;
const KINDS = 0x4c;
const SPANS = 0x59;
const JOURNAL = 0x7f;
const NAMES: Record<number, string> = {
  [IDENTITY]: 'identity',
  [SESSIONS]: 'sessions',
  [ACTORS]: 'actors',
  [AUTHORS]: 'authors',
  [ATTRIBUTES]: 'attributes',
  [EVENT_TIMES]: 'event times',
  [ADJACENCY]: 'adjacency',
  [KINDS]: 'kinds',
  [SPANS]: 'spans',
};

/** The type of episodes. */
export const EPISODE = 5;

/** A span of a session that was closed, and opened again since. */
export interface EarlierSpan {
  opened: bigint;
  closed: bigint;
  outcome: string;
}

/** A session as its record has it, without its spans. */
export type SessionRecord = Omit<Session, 'spans' | 'spanCount'>;

/** The flags of an event. */
export const FLAG = { vector: 1, attributes: 2, pinned: 4, forgotten: 8, compressed: 16, erased: 32 } as const;

/** A record of the node table. */
export interface NodeRecord {
  type: number;
  flags: number;
  created: bigint;
  session: number;
  confidence: number;
  accessCount: number;
  accessed: bigint;
  decayScore: number;
  contentAt: number;
  contentSize: number;
  decayRate: number;
}

/** The identity section. */
export interface Identity {
  lineage: Buffer;
  instance: Buffer;
  generation: bigint;
  lsn: bigint;
  time: bigint;
}

/** Who made a commit: the authenticated principal, and the name that the agent gave. */
export interface Actor {
  principal: string;
  agent: string;
}

/** Weight and recorded time of an edge. */
export interface Value {
  weight: number;
  created: bigint;
}
/** An edge, seen from one of its ends. */
export interface Tie extends Value {
  other: number;
  type: number;
}

interface Edges {
  outStarts: Numbers;
  inStarts: Numbers;
  targets: Numbers;
  sources: Numbers;
  outTypes: Numbers;
  inTypes: Numbers;
}

/** The base of a file. */
export class Base {
  readonly dimension: number;
  readonly nodes: number;
  readonly edgeCount: number;
  readonly identity: Identity;
  /** Position of the journal's head page; undefined without a journal. */
  readonly journal: number | undefined;
  private readonly nodeTable: number;
  private readonly edgeTable: number;
  private readonly content: number;
  private readonly vectors: number;
  private readonly sections = new Map<number, Span>();
  private known: { attributes?: [Numbers, Numbers]; times?: [number, Numbers]; edges?: Edges } = {};

  constructor(private readonly file: File) {
    const header = new Span(file, 'header', 0, HEADER);
    if (header.slice(0, 4).toString('latin1') !== 'AMEM') throw header.bad(0, 'it does not begin with AMEM');
    const version = header.u32(4);
    if (version !== 1) throw header.bad(4, `version ${version}, not 1`);
    const flags = header.u32(12);
    if ((flags & MUST_READ) !== 0) throw new NewerFile('header', 12, `header flags ${flags}`);
    [this.dimension, this.nodes, this.edgeCount] = [header.u32(8), header.u64(16), header.u64(24)];
    [this.nodeTable, this.edgeTable] = [header.u64(32), header.u64(40)];
    [this.content, this.vectors] = [header.u64(48), header.u64(56)];
    this.check();
    this.journal = this.walk(this.vectors + 4 * this.dimension * this.nodes);
    const own = this.sections.get(IDENTITY);
    if (!own) throw new DamagedFile('identity', this.vectors, 'the section is missing: amemd did not write this file');
    const number = (at: number): bigint => own.slice(at, 8).readBigUInt64LE(0);
    this.identity = {
      lineage: Buffer.from(own.slice(0, 16)),
      instance: Buffer.from(own.slice(16, 16)),
      generation: number(32),
      lsn: number(40),
      time: own.i64(48),
    };
    file.fix(this.journal ?? file.size);
  }

  private check(): void {
    const bounds: [string, number, number, number][] = [
      ['dimension', 8, this.dimension, DIMENSION_MAX],
      ['number of events', 16, this.nodes, NODES_MAX],
      ['number of edges', 24, this.edgeCount, EDGES_MAX],
    ];
    for (const [what, at, number, most] of bounds) {
      if (number > most) throw new DamagedFile('header', at, `the ${what} is ${number}, at most ${most} is allowed`);
    }
    const tables: [string, number, number, number][] = [
      ['node table', 32, this.nodeTable, NODE * this.nodes],
      ['edge table', 40, this.edgeTable, EDGE * this.edgeCount],
      ['content block', 48, this.content, this.vectors - this.content],
      ['vectors', 56, this.vectors, 4 * this.dimension * this.nodes],
    ];
    let freeFrom = HEADER;
    for (const [what, at, start, size] of tables) {
      if (!(size >= 0 && start >= freeFrom && start + size <= this.file.size)) {
        throw new DamagedFile(
          what,
          at,
          `it begins at ${start} and takes ${size} bytes of ${this.file.size}, ${freeFrom} taken`,
        );
      }
      freeFrom = start + size;
    }
  }

  /** Finds the sections, and the journal. Skips unknown sections, as the format requires. */
  private walk(start: number): number | undefined {
    let at = start;
    while (at < this.file.size) {
      const front = this.file.read('section header', at, 9);
      const [tag, size] = [front.readUInt8(0), front.readBigUInt64LE(1)];
      if (tag === JOURNAL) {
        if (size !== JOURNAL_LENGTH || at % PAGE !== 0) {
          throw new DamagedFile('journal', at, 'its length field or alignment is wrong');
        }
        return at;
      }
      const own = new Span(this.file, NAMES[tag] ?? `section ${tag}`, at + 9, asNumber(size));
      if (tag !== PADDING) {
        if (this.sections.has(tag) || this.sections.size === SECTIONS_MAX) {
          throw new DamagedFile(own.part, at, 'it occurs twice, or there are too many');
        }
        this.sections.set(tag, own);
      }
      at += 9 + own.size;
    }
    return undefined;
  }

  private section(tag: number): Span {
    const own = this.sections.get(tag);
    if (!own) throw new DamagedFile(NAMES[tag] ?? 'section', this.vectors, 'the section is missing');
    return own;
  }

  /** The record of an event below `nodes`. */
  record(id: number): NodeRecord {
    const at = this.nodeTable + NODE * id;
    const bytes = this.file.read('node record', at, NODE);
    if (bytes.readBigUInt64LE(0) !== BigInt(id)) {
      throw new DamagedFile('node record', at, `it says that it is event ${bytes.readBigUInt64LE(0)}`);
    }
    const record = {
      type: bytes.readUInt8(8),
      flags: bytes.readUInt8(9),
      created: bytes.readBigInt64LE(12),
      session: bytes.readUInt32LE(20),
      confidence: bytes.readFloatLE(24),
      accessCount: bytes.readUInt32LE(28),
      accessed: bytes.readBigInt64LE(32),
      decayScore: bytes.readFloatLE(40),
      contentAt: asNumber(bytes.readBigUInt64LE(44)),
      contentSize: bytes.readUInt32LE(52),
      decayRate: bytes.readFloatLE(68),
    };
    if (![record.confidence, record.decayScore, record.decayRate].every(Number.isFinite)) {
      throw new DamagedFile('node record', at, 'a number that is not finite');
    }
    if (record.created < 0n || record.accessed < 0n) {
      throw new DamagedFile('node record', at, 'a time past the year 294,000');
    }
    return record;
  }

  text(record: NodeRecord): string {
    const [at, size] = [this.content + record.contentAt, record.contentSize];
    if (size === 0) return '';
    if (!(at + size <= this.vectors && size >= 5)) {
      throw new DamagedFile('text', at, `${size} bytes are no block, or reach past the content block`);
    }
    const block = this.file.read('text', at, size);
    try {
      return utf8(decompress(block.subarray(4), block.readUInt32LE(0), TEXT_BYTES_MAX), 'text', at);
    } catch (why) {
      if (why instanceof BadBlock) throw new DamagedFile('text', at, why.message);
      throw why;
    }
  }

  vectorAt(id: number): number {
    return this.vectors + 4 * this.dimension * id;
  }

  /** The attributes of an event that has some, as JSON. */
  attributes(id: number): string {
    const own = this.section(ATTRIBUTES);
    if (!this.known.attributes) {
      const count = own.u64(0);
      this.known.attributes = [new Numbers(own, 8, count + 1, 8), new Numbers(own, 8 + 8 * (count + 1), count, 4)];
    }
    const [starts, ids] = this.known.attributes;
    const place = ids.find(id);
    if (place === ids.length || ids.get(place) !== id) return '';
    const [start, end] = [starts.get(place), starts.get(place + 1)];
    if (end - start > ATTRIBUTES_BYTES_MAX + ORIGIN_BYTES_MAX) {
      throw own.bad(8, `the attributes of event ${id} take ${end - start} bytes`);
    }
    return own.text(8 + 8 * starts.length + 4 * ids.length + start, end - start);
  }

  eventTime(id: number): bigint | null {
    const own = this.section(EVENT_TIMES);
    if (!this.known.times) {
      const count = own.u64(0);
      if (own.u64(8) !== this.nodes || count > this.nodes) {
        throw own.bad(0, `it does not have the brain's ${this.nodes} events`);
      }
      const ids = 16 + 8 * (count + (count > 0 ? this.nodes : 0));
      this.known.times = [16, new Numbers(own, ids, count, 4)];
    }
    const [at, ids] = this.known.times;
    const place = ids.find(id);
    return place < ids.length && ids.get(place) === id ? own.i64(at + 8 * place) : null;
  }

  actorCount(): number {
    return this.section(ACTORS).u64(0);
  }

  /** An actor of the base, from 1. */
  actor(number: number): Actor {
    const own = this.section(ACTORS);
    const record = own.slice(16 * number - 8, 16);
    const texts = 8 + 16 * own.u64(0);
    const name = (at: number): string => {
      const size = record.readUInt32LE(at + 4);
      if (size > NAME_BYTES_MAX) throw own.bad(16 * number - 8, `actor ${number} has a name past the limit`);
      return own.text(texts + record.readUInt32LE(at), size);
    };
    return { principal: name(0), agent: name(8) };
  }

  /** The actor that recorded an event of the base; 0 if unknown. Files of earlier versions do not say it. */
  author(id: number): number {
    const own = this.sections.get(AUTHORS);
    if (!own) return 0;
    if (own.u64(0) !== this.nodes) throw own.bad(0, `it does not have the brain's ${this.nodes} events`);
    return own.u32(16 + 4 * id);
  }

  private edges(): Edges {
    if (!this.known.edges) {
      const own = this.section(ADJACENCY);
      const [n, m] = [this.nodes, this.edgeCount];
      if (own.u64(0) !== n || own.u64(8) !== m)
        throw own.bad(0, `it does not have the brain's ${n} events and ${m} edges`);
      const lists = 16 + 8 * (n + 1);
      this.known.edges = {
        outStarts: new Numbers(own, 16, n + 1, 4),
        inStarts: new Numbers(own, 16 + 4 * (n + 1), n + 1, 4),
        targets: new Numbers(own, lists, m, 4),
        sources: new Numbers(own, lists + 4 * m, m, 4),
        outTypes: new Numbers(own, lists + 8 * m, m, 1),
        inTypes: new Numbers(own, lists + 9 * m, m, 1),
      };
    }
    return this.known.edges;
  }

  private range(starts: Numbers, id: number): [number, number] {
    const [first, end] = [starts.get(id), starts.get(id + 1)];
    if (first > end || end > this.edgeCount) throw starts.span.bad(0, `the edges of event ${id} run backwards`);
    return [first, end];
  }

  /** The edges that start at an event of the base. */
  outgoing(id: number): Tie[] {
    const [first, end] = this.range(this.edges().outStarts, id);
    const found: Tie[] = [];
    for (let place = first; place < end; place += 1) found.push(this.edgeAt(place, id));
    return found;
  }

  /** The edges that end at an event of the base. */
  incoming(id: number): Tie[] {
    const { inStarts, sources, inTypes } = this.edges();
    const [first, end] = this.range(inStarts, id);
    const found: Tie[] = [];
    for (let place = first; place < end; place += 1) {
      const [other, type] = [sources.get(place), inTypes.get(place)];
      const value = this.edge(other, id, type);
      if (!value) throw sources.span.bad(0, `edge ${other} ${type} ${id} is in one list only`);
      found.push({ other, type, ...value });
    }
    return found;
  }

  /** Weight and time of one edge of the base. */
  edge(source: number, target: number, type: number): Value | null {
    if (source >= this.nodes || target >= this.nodes) return null;
    const { outStarts, targets, outTypes } = this.edges();
    const [first, end] = this.range(outStarts, source);
    for (let place = targets.find(target, first, end); place < end && targets.get(place) === target; place += 1) {
      if (outTypes.get(place) === type) {
        const { weight, created } = this.edgeAt(place, source);
        return { weight, created };
      }
    }
    return null;
  }

  private edgeAt(place: number, source: number): Tie {
    const at = this.edgeTable + EDGE * place;
    const bytes = this.file.read('edge record', at, EDGE);
    const tie = {
      other: asNumber(bytes.readBigUInt64LE(8)),
      type: bytes.readUInt8(16),
      weight: bytes.readFloatLE(20),
      created: bytes.readBigInt64LE(24),
    };
    const isOwn = bytes.readBigUInt64LE(0) === BigInt(source) && tie.other < this.nodes;
    if (!isOwn || !Number.isFinite(tie.weight) || tie.created < 0n) {
      throw new DamagedFile('edge record', at, "another event's, to no event, or with a number out of range");
    }
    return tie;
  }

  sessionCount(): number {
    const own = this.section(SESSIONS);
    const count = own.u64(0);
    if (own.u64(8) !== this.nodes || !(16 + 72 * count + 4 + 4 * this.nodes <= own.size)) {
      throw own.bad(0, `${count} sessions and ${own.u64(8)} events do not fit`);
    }
    return count;
  }

  /** The session at an index, in order of number. */
  sessionAt(place: number): SessionRecord {
    const [own, count] = [this.section(SESSIONS), this.sessionCount()];
    if (place >= count) throw own.bad(0, `there is no session at place ${place}`);
    const record = own.slice(16 + 64 * place, 64);
    const [key, agent, outcome] = [record.readUInt32LE(40), record.readUInt32LE(44), record.readUInt32LE(48)];
    const at = 16 + 72 * count + 4 + 4 * this.nodes + asNumber(record.readBigUInt64LE(32));
    const flags = record.readUInt32LE(4);
    return {
      id: record.readUInt32LE(0),
      key: own.text(at, key),
      agent: own.text(at + key, agent),
      openedMicros: record.readBigInt64LE(8),
      explicit: (flags & 1) !== 0,
      lastEventMicros: record.readBigInt64LE(16),
      closedMicros: (flags & 2) !== 0 ? record.readBigInt64LE(24) : null,
      outcome: own.text(at + key + agent, outcome),
    };
  }

  findSession(number: number): SessionRecord | null {
    const place = this.sessionPlace(number);
    return place === null ? null : this.sessionAt(place);
  }

  private sessionPlace(number: number): number | null {
    const [own, count] = [this.section(SESSIONS), this.sessionCount()];
    const place = firstOf(own, 16, 64, count, number);
    return place < count && own.u32(16 + 64 * place) === number ? place : null;
  }

  /** The events of a session, ascending. */
  sessionMembers(number: number): number[] {
    const [place, own, count] = [this.sessionPlace(number), this.section(SESSIONS), this.sessionCount()];
    if (place === null) return [];
    return this.ids(own, 16 + 68 * count + 4 * place, 16 + 72 * count + 4);
  }

  /** The events of the type episode, ascending. */
  episodes(): number[] {
    return this.ids(this.section(KINDS), 8 + 4 * EPISODE, 8 + 4 * 257);
  }

  /** The ids between two starts, the first of them at `at`, of those that begin at `from`. */
  private ids(own: Span, at: number, from: number): number[] {
    const [start, end] = [own.u32(at), own.u32(at + 4)];
    if (!(start <= end && end <= this.nodes)) throw own.bad(at, `the events reach past ${this.nodes}`);
    const bytes = own.slice(from + 4 * start, 4 * (end - start));
    return Array.from({ length: end - start }, (_, index) => bytes.readUInt32LE(4 * index));
  }

  /** The earlier spans of a session that was opened again. Older files have none. */
  spans(number: number): EarlierSpan[] {
    if (!this.sections.has(SPANS)) return [];
    const own = this.section(SPANS);
    const count = own.u64(0);
    if (!(8 + 40 * count <= own.size)) throw own.bad(0, `${count} spans do not fit`);
    const found: EarlierSpan[] = [];
    for (let place = firstOf(own, 8, 40, count, number); place < count; place += 1) {
      const record = own.slice(8 + 40 * place, 40);
      if (record.readUInt32LE(0) !== number) break;
      const at = 8 + 40 * count + asNumber(record.readBigUInt64LE(24));
      found.push({
        opened: record.readBigInt64LE(8),
        closed: record.readBigInt64LE(16),
        outcome: own.text(at, record.readUInt32LE(32)),
      });
    }
    return found;
  }
}

/** The first record whose session is at least `number`; each begins with its session. */
function firstOf(own: Span, start: number, size: number, count: number, number: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (own.u32(start + size * middle) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
