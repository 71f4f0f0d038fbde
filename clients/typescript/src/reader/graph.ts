// The delta: events, states, edges and sessions that the journal adds to the base, one transaction after the other.
//
// Operations are checked against the graph: a journal with right checksums may still be hostile. Memory grows with the
// journal's bytes; texts and vectors stay in the file. Not here: reading it (`reader`).

import { DamagedFile } from '../errors';
import { FLAG, type Actor, type Base, type EarlierSpan, type Tie, type Value } from './base';
import { EDGES_MAX, NODES_MAX, type File } from './file';
import type { Transaction } from './journal';
import { isOnlyOrigin, operations, type NewEvent, type Op, type ByteRange } from './ops';

const DAY = 86_400_000_000;

/** The mutable part of an event, as of now. */
export interface State {
  confidence: number;
  flags: number;
  decayRate: number;
  accessCount: number;
  accessed: bigint;
  /** Strength after the first `runs` decay runs of the journal. */
  strength: number;
  runs: number;
  /** Undefined: as in the base. */
  attributes: ByteRange | null | undefined;
  vector: ByteRange | null | undefined;
}

/** The times of a session that the journal has. */
export interface Times {
  firstEvent?: bigint;
  lastEvent?: bigint;
  opened?: { key: string; agent: string; when: bigint };
  closed?: { outcome: string; when: bigint } | undefined;
  events: number[];
  /** The spans that the journal closed by opening the session again. */
  earlier: EarlierSpan[];
}

/** Edges of one event by (other end, type); null is a retracted edge. */
type Ties = Map<string, { other: number; type: number; value: Value | null }>;
const tieKey = (other: number, type: number): string => `${other} ${type}`;

/** A base and the changes in its journal. */
export class Graph {
  lsn: bigint;
  time: bigint;
  edgeCount: number;
  /** Events of the journal. */
  readonly events: NewEvent[] = [];
  readonly sessions = new Map<number, Times>();
  private readonly states = new Map<number, State>();
  private readonly decays: { when: bigint; rates: number[] }[] = [];
  /** Edges that the journal added, changed or retracted, by both ends. */
  private readonly outgoing = new Map<number, Ties>();
  private readonly incoming = new Map<number, Ties>();
  /** The actors that the journal names, numbered on from the base's, and the actor of each of its events. */
  private readonly actors: Actor[] = [];
  private readonly authors: number[] = [];
  private authorNow = 0;
  private position = 0;

  constructor(readonly base: Base) {
    this.lsn = base.identity.lsn;
    this.time = base.identity.time;
    this.edgeCount = base.edgeCount;
  }

  get nodes(): number {
    return this.base.nodes + this.events.length;
  }

  /**
   * Applies a whole transaction of a file, with one payload in memory at a time. After an error the graph has a part of
   * the transaction, and must not be used any more.
   */
  apply(transaction: Transaction, file: File): void {
    if (transaction.lsn <= this.lsn || transaction.time <= this.time) {
      const position = transaction.frames[0]?.position ?? 0;
      throw new DamagedFile('commit', position, `commit ${transaction.lsn} does not follow ${this.lsn} in time`);
    }
    this.authorNow = transaction.actor;
    for (const { position, size } of transaction.frames) {
      this.position = position;
      const payload = file.read('operation', position, size);
      // True for attributes that an erased event may have.
      const mayStay = (json: ByteRange | null): boolean =>
        json !== null && isOnlyOrigin(payload.subarray(json.at - position, json.at - position + json.size));
      for (const op of operations(payload, position)) this.applyOp(op, transaction.time, mayStay);
    }
    [this.lsn, this.time] = [transaction.lsn, transaction.time];
  }

  private applyOp(op: Op, time: bigint, mayStay: (json: ByteRange | null) => boolean): void {
    switch (op.op) {
      case 'event': {
        const isErased = ((op.carried?.flags ?? 0) & FLAG.erased) !== 0;
        return this.add(isErased && !mayStay(op.attributes) ? { ...op, attributes: null } : op, time);
      }
      case 'link':
        return this.link(op.source, op.target, op.type, op);
      case 'unlink':
        return this.unlink(op.source, op.target, op.type);
      case 'belief':
        return this.believe(op);
      case 'attributes': {
        const state = this.change(op.id);
        if ((state.flags & FLAG.erased) !== 0 && !mayStay(op.json)) return undefined;
        state.attributes = op.json;
        state.flags = (state.flags & ~FLAG.attributes) | (op.json ? FLAG.attributes : 0);
        return undefined;
      }
      case 'vector': {
        this.checkVector(op.vector);
        const state = this.change(op.id);
        state.vector = op.vector;
        state.flags = (state.flags & ~FLAG.vector) | (op.vector ? FLAG.vector : 0);
        return undefined;
      }
      case 'touch':
        for (const { id, times } of op.uses) {
          const state = this.change(id);
          state.accessCount = Math.min(state.accessCount + times, 0xffffffff);
          if (op.when > state.accessed) state.accessed = op.when;
        }
        return undefined;
      case 'decay':
        this.decays.push({ when: op.when, rates: op.rates });
        return undefined;
      case 'open-session':
        return this.openSession(op);
      case 'close-session':
        this.times(op.session).closed = { outcome: op.outcome, when: op.when };
        return undefined;
      case 'erase': {
        const state = this.change(op.id);
        state.attributes = state.vector = null;
        state.flags = (state.flags & ~(FLAG.vector | FLAG.attributes)) | FLAG.erased;
        return undefined;
      }
      case 'actor': {
        const next = this.base.actorCount() + this.actors.length + 1;
        if (op.actor !== next) throw this.bad(`actor ${op.actor} where ${next} is the next`);
        this.actors.push({ principal: op.principal, agent: op.agent });
        return undefined;
      }
      case 'author': {
        const known = this.base.actorCount() + this.actors.length;
        if (op.actor > known) throw this.bad(`author ${op.actor} where ${known} is the last actor`);
        this.authorNow = op.actor;
        return undefined;
      }
      case 'settings':
      case 'request':
      case 'stamp':
        return undefined;
    }
  }

  /** Opens a session; one that is closed begins another span. */
  private openSession(op: Extract<Op, { op: 'open-session' }>): void {
    const times = this.times(op.session);
    const base = times.earlier.length > 0 ? null : this.base.findSession(op.session);
    let { closed } = times;
    if (!closed && base && base.closedMicros !== null) closed = { outcome: base.outcome, when: base.closedMicros };
    if (closed) {
      const opened = times.opened?.when ?? base?.openedMicros ?? times.firstEvent ?? 0n;
      times.earlier.push({ opened, closed: closed.when, outcome: closed.outcome });
      times.closed = undefined;
    }
    times.opened = { key: op.key, agent: op.agent, when: op.when };
  }

  private bad(why: string): DamagedFile {
    return new DamagedFile('operation', this.position, why);
  }

  private add(event: NewEvent, time: bigint): void {
    if (event.id !== this.nodes || event.id >= NODES_MAX)
      throw this.bad(`event ${event.id} where ${this.nodes} is the next`);
    const before =
      this.events.at(-1)?.created ??
      (this.base.nodes > 0 ? this.base.record(this.base.nodes - 1).created : event.created);
    if (event.created < before || event.created > time) throw this.bad(`event ${event.id} is recorded out of order`);
    this.checkVector(event.vector);
    this.events.push(event);
    this.authors.push(this.authorNow);
    const times = this.times(event.session);
    times.events.push(event.id);
    times.firstEvent ??= event.created;
    times.lastEvent = event.created;
    this.kept(event.id).runs = this.decays.length;
  }

  /** Principal and agent that recorded an event; both empty if unknown. */
  author(id: number): Actor {
    const actor = id < this.base.nodes ? this.base.author(id) : (this.authors[id - this.base.nodes] ?? 0);
    if (actor === 0) return { principal: '', agent: '' };
    const known = this.base.actorCount();
    if (actor <= known) return this.base.actor(actor);
    return this.actors[actor - known - 1] ?? { principal: '', agent: '' };
  }

  private checkVector(vector: ByteRange | null): void {
    if (vector && vector.size !== 4 * this.base.dimension) {
      throw this.bad(`a vector of ${vector.size} bytes where one has ${4 * this.base.dimension}`);
    }
  }

  private times(session: number): Times {
    const times = this.sessions.get(session) ?? { events: [], earlier: [] };
    this.sessions.set(session, times);
    return times;
  }

  /** The state of an event, of the base or the journal. */
  state(id: number): State {
    return this.states.get(id) ?? this.initial(id);
  }

  private initial(id: number): State {
    if (id < this.base.nodes) {
      const { confidence, flags, decayRate, accessCount, accessed, decayScore } = this.base.record(id);
      const mutable = { attributes: undefined, vector: undefined };
      return { confidence, flags, decayRate, accessCount, accessed, strength: decayScore, runs: 0, ...mutable };
    }
    const { confidence, decayRate, created, attributes, vector, carried } = this.event(id);
    const own = FLAG.vector | FLAG.attributes;
    return {
      confidence,
      flags: (vector ? FLAG.vector : 0) | (attributes ? FLAG.attributes : 0) | ((carried?.flags ?? 0) & ~own),
      decayRate,
      accessCount: carried?.accessCount ?? 0,
      accessed: carried?.accessed ?? created,
      strength: carried?.decayScore ?? confidence,
      runs: 0,
      attributes,
      vector,
    };
  }

  /** An event of the journal. */
  event(id: number): NewEvent {
    const event = this.events[id - this.base.nodes];
    if (!event) throw new RangeError(`there is no event ${id}, only ${this.nodes}`);
    return event;
  }

  private kept(id: number): State {
    const state = this.state(id);
    this.states.set(id, state);
    return state;
  }

  /** The state of an event about to change, with its strength after the decay runs so far. */
  private change(id: number): State {
    if (id >= this.nodes) throw this.bad(`there is no event ${id}`);
    const state = this.kept(id);
    [state.strength, state.runs] = [this.strength(id, state), this.decays.length];
    return state;
  }

  /** Strength at the last decay run, or the confidence if it was set since. */
  strength(id: number, state: State): number {
    const run = this.decays.at(-1);
    if (!run || state.runs === this.decays.length) return state.strength;
    if ((state.flags & FLAG.pinned) !== 0) return state.confidence;
    const type = id < this.base.nodes ? this.base.record(id).type : this.event(id).type;
    const rate = state.decayRate || (run.rates[type < 6 ? type : 0] as number);
    const days = Math.max(Number(run.when - state.accessed), 0) / DAY;
    const slowed = state.accessCount === 0 ? 1 : 1 + Math.log2(1 + state.accessCount);
    // The file has 32 bits.
    return Math.fround(state.confidence * Math.exp((-rate * days) / slowed));
  }

  private believe(op: Extract<Op, { op: 'belief' }>): void {
    const state = this.change(op.id);
    if (state.confidence !== op.confidence) state.confidence = state.strength = op.confidence;
    const kept = FLAG.vector | FLAG.attributes | FLAG.erased;
    state.flags = (state.flags & kept) | (op.flags & (FLAG.pinned | FLAG.forgotten | FLAG.compressed));
    state.decayRate = op.decayRate;
  }

  /** The edges of an event by (other end, type), as of now. */
  ties(id: number, direction: 'outgoing' | 'incoming'): Tie[] {
    const ties = new Map<string, Tie>();
    if (id < this.base.nodes) for (const tie of this.base[direction](id)) ties.set(tieKey(tie.other, tie.type), tie);
    for (const [key, { other, type, value }] of this[direction].get(id) ?? []) {
      if (value) ties.set(key, { other, type, ...value });
      else ties.delete(key);
    }
    return [...ties.values()].sort((a, b) => a.other - b.other || a.type - b.type);
  }

  private edgeNow(source: number, target: number, type: number): Value | null {
    const changed = this.outgoing.get(source)?.get(tieKey(target, type));
    return changed ? changed.value : this.base.edge(source, target, type);
  }

  private putEdge(source: number, target: number, type: number, value: Value | null): void {
    const put = (ties: Map<number, Ties>, of: number, other: number): void => {
      const own = ties.get(of) ?? new Map();
      own.set(tieKey(other, type), { other, type, value });
      ties.set(of, own);
    };
    put(this.outgoing, source, target);
    put(this.incoming, target, source);
  }

  private checkEnds(...ids: number[]): void {
    for (const id of ids) if (id >= this.nodes) throw this.bad(`there is no event ${id}`);
  }

  private link(source: number, target: number, type: number, { weight, created }: Value): void {
    this.checkEnds(source, target);
    if (source === target) throw this.bad(`event ${source} has an edge to itself`);
    const before = this.edgeNow(source, target, type);
    if (!before) {
      this.edgeCount += 1;
      if (this.edgeCount > EDGES_MAX) throw this.bad('more edges than are allowed');
    }
    // A new weight keeps the edge's time.
    this.putEdge(source, target, type, { weight, created: before?.created ?? created });
  }

  private unlink(source: number, target: number, type: number): void {
    this.checkEnds(source, target);
    if (!this.edgeNow(source, target, type)) throw this.bad(`there is no edge ${source} ${type} ${target}`);
    this.edgeCount -= 1;
    this.putEdge(source, target, type, null);
  }
}
