// Following one brain's file, and reading what it says now.

import * as fs from 'node:fs';
import { isAbsolute } from 'node:path';

import { AmemError, DamagedFile, MustDrop, Superseded } from '../errors';
import { parseObject } from '../json';
import {
  EDGE_TYPES,
  EVENT_TYPES,
  typeName,
  type Edge,
  type Event,
  type JsonObject,
  type Micros,
  type Resolved,
  type Session,
} from '../types';
import { Base, FLAG } from './base';
import { File, utf8 } from './file';
import { Graph } from './graph';
import * as journal from './journal';
import { ORIGIN, type Place } from './ops';
import { resolve } from './resolve';

/** Milliseconds after which the path is looked at although nothing calls for it. */
const LOOK_EVERY = 1000;
const SUPERSEDES = 3;
/** Times that frames are read anew before a committed one counts as missing. */
const ATTEMPTS = 3;

/** This run of the operating system; undefined where nobody says it. */
function bootId(): [bigint, bigint] | undefined {
  let told: string;
  try {
    told = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '');
  } catch {
    return undefined;
  }
  if (!/^[0-9a-f]{32}$/.test(told)) return undefined;
  return [BigInt(`0x${told.slice(0, 16)}`), BigInt(`0x${told.slice(16)}`)];
}

function uuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** One generation: its file, its base, and what is applied of its journal. */
class Followed {
  readonly file: File;
  readonly graph: Graph;
  readonly isLive: boolean = false;
  torn: string | undefined;
  private position: journal.Position | undefined;

  constructor(path: string) {
    this.file = new File(path);
    try {
      this.graph = new Graph(new Base(this.file));
      const at = this.graph.base.journal;
      if (at !== undefined) {
        this.position = journal.start(this.file, at, this.graph.base.identity);
        this.isLive = this.isOwnedNow();
        if (this.isLive) this.follow();
        else this.replay(this.file.size);
      }
    } catch (why) {
      this.file.close();
      throw why;
    }
  }

  live(): journal.Live | undefined {
    const at = this.graph.base.journal;
    return at === undefined ? undefined : journal.live(this.file, at);
  }

  isOwnedNow(): boolean {
    const [live, boot] = [this.live(), bootId()];
    if (!live || !boot) return false;
    const wanted = [...boot, this.file.id.device, this.file.id.inode];
    return wanted.every((cell, place) => live.owner[place] === cell);
  }

  /** Applies what was committed since. */
  follow(): void {
    const live = this.live();
    if (!this.isLive || !live || !this.position) return;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      if (live.committed <= this.position.at) return;
      if (live.committed > this.file.size) this.file.look();
      this.replay(Math.min(live.committed, this.file.size));
    }
    if (this.position.at < live.committed) {
      throw new DamagedFile('journal', this.position.at, this.torn ?? 'a committed frame is missing');
    }
  }

  private replay(until: number): void {
    while (this.position) {
      const { transaction, torn } = journal.following(this.file, this.position, until);
      this.torn = torn;
      if (!transaction) return;
      this.graph.apply(transaction, this.file);
      this.position = transaction.after;
    }
  }
}

/** A brain's file, as it is at the last `refresh`. */
export class Reader {
  /** What it names is followed for as long as the reader lives, wherever the process goes. */
  readonly path: string;
  private now: Followed;
  private lookAt = performance.now() + LOOK_EVERY;
  /** Why nothing may be read. */
  private failed: AmemError | undefined;
  private isClosed = false;
  /** True while what was committed since is in a file that is not to be found. */
  private isLost = false;
  /** Why the file under the name can't be read, and since when. */
  private unread: { since: number; why: unknown } | undefined;

  /** Opens a file, checks it, and replays its journal. */
  constructor(path: string) {
    this.path = isAbsolute(path) ? path : `${process.cwd()}/${path}`;
    this.now = new Followed(this.path);
  }

  private get graph(): Graph {
    if (this.failed) throw this.failed;
    return this.now.graph;
  }

  /** The newest commit that is shown. */
  get lsn(): bigint {
    return this.graph.lsn;
  }

  /** Its recorded time. */
  get timeMicros(): Micros {
    return this.graph.time;
  }

  /** The brain's instance, a UUID. */
  get instance(): string {
    return uuid(this.graph.base.identity.instance);
  }

  /** Which base of the instance is read. */
  get generation(): bigint {
    return this.graph.base.identity.generation;
  }

  /** Numbers in a vector; 0 for none. */
  get dimension(): number {
    return this.graph.base.dimension;
  }

  /** The number of events, forgotten ones counted. */
  get length(): number {
    return this.graph.nodes;
  }

  get edgeCount(): number {
    return this.graph.edgeCount;
  }

  /**
   * True if a daemon owned the file when it was opened, so that `refresh` follows its commits. False once that can't be
   * done: see `refresh`.
   */
  get isLive(): boolean {
    return this.now.isLive && this.now.file.isOpen && !this.isLost;
  }

  /** What stands behind the last whole transaction of a file that is not live, if not zeros. */
  get torn(): string | undefined {
    return this.now.isLive ? undefined : this.now.torn;
  }

  /** Lets go of the file. Nothing can be read of it then. */
  close(): void {
    this.now.file.close();
    this.isClosed = true;
    this.failed = new AmemError(`the reader of ${this.path} is closed`);
  }

  /**
   * Takes in what was committed since, also across checkpoints; true if there was something.
   *
   * MustDrop says that something was erased and the file that replaces this one is not to be found: this one is let go
   * of. Superseded says that this file was replaced, and no later one of this brain can be read under the path; what is
   * shown is still as it was. Either passes once such a file is there. Where a file that no daemon owns is replaced by
   * one that can't be read, and stays so, that one's error is thrown.
   */
  refresh(): boolean {
    if (this.isClosed && this.failed) throw this.failed;
    const before = this.now;
    const [lsn] = [before.graph.lsn];
    const dropped = !before.file.isOpen;
    const live = before.isLive && !dropped ? before.live() : undefined;
    const hint = dropped || (live && (live.look || live.mustDrop || live.supersededBy !== 0n));
    if (hint || performance.now() >= this.lookAt) {
      this.lookAt = performance.now() + LOOK_EVERY;
      const found = this.successor();
      this.isLost = false;
      if (found instanceof Followed) {
        before.file.close();
        [this.now, this.failed] = [found, undefined];
      } else if (live?.mustDrop) {
        before.file.close();
        this.failed = new MustDrop(`something was erased from ${this.path}, and its successor is not there`);
      } else if (live && live.supersededBy !== 0n && found !== undefined) {
        // What is committed since is in a file that we can't find.
        this.isLost = true;
        throw this.failed ?? new Superseded(this.path, live.supersededBy, found);
      }
    }
    if (this.unread && !live && performance.now() >= this.unread.since + LOOK_EVERY) {
      // Nothing more will come into this file.
      throw this.failed ?? this.unread.why;
    }
    if (this.failed) throw this.failed;
    try {
      this.now.follow();
    } catch (why) {
      // Half a commit may be applied.
      if (why instanceof DamagedFile) this.failed = why;
      throw why;
    }
    return this.now !== before || this.now.graph.lsn !== lsn;
  }

  /**
   * What the path names now, if that is a later generation of this instance, or this file and owned by now; undefined
   * if it is this file as it was; else what stands there, or why it can't be read.
   */
  private successor(): Followed | string | undefined {
    const before = this.unread;
    this.unread = undefined;
    let about: fs.BigIntStats;
    try {
      // Of the file that a link leads to, as it is opened.
      about = fs.statSync(this.path, { bigint: true });
    } catch (why) {
      return String(why);
    }
    const { isOpen, id } = this.now.file;
    // The inode of a file that was let go of may be another file's by now.
    const same = isOpen && about.dev === id.device && about.ino === id.inode;
    if (same && (this.now.isLive || !this.now.isOwnedNow())) return undefined;
    let found: Followed;
    try {
      found = new Followed(this.path);
    } catch (why) {
      // Whatever stands under the name now, this brain is still whole; `refresh` says it if that lasts.
      this.unread = { since: before?.since ?? performance.now(), why };
      return String(why);
    }
    const [old, next] = [this.now.graph.base.identity, found.graph.base.identity];
    if (next.instance.equals(old.instance) && (next.generation > old.generation || same)) return found;
    found.file.close();
    return next.instance.equals(old.instance) ? `generation ${next.generation} is there` : 'another brain is there';
  }

  /** Every event by id, those of the moment of the call. */
  *events(): Generator<Event> {
    const count = this.length;
    for (let id = 0; id < count; id += 1) yield this.get(id);
  }

  private known(id: number): number {
    if (!Number.isInteger(id) || id < 0 || id >= this.length) {
      throw new RangeError(`there is no event ${id}, only ${this.length}`);
    }
    return id;
  }

  /** An event by its id; RangeError if there is none. Its text is empty if it was erased. */
  get(id: number, { vectors = false, edges = false }: { vectors?: boolean; edges?: boolean } = {}): Event {
    const { graph } = this;
    const state = graph.state(this.known(id));
    const inBase = id < graph.base.nodes;
    const { type, session, created } = inBase ? graph.base.record(id) : graph.event(id);
    const has = (flag: number): boolean => (state.flags & flag) !== 0;
    return {
      id,
      type: typeName(EVENT_TYPES, type),
      text: this.text(id),
      session,
      createdMicros: created,
      eventMicros: inBase ? graph.base.eventTime(id) : graph.event(id).eventTime,
      confidence: state.confidence,
      strength: graph.strength(id, state),
      decayRate: state.decayRate,
      accessCount: state.accessCount,
      accessedMicros: state.accessed,
      pinned: has(FLAG.pinned),
      forgotten: has(FLAG.forgotten),
      compressed: has(FLAG.compressed),
      erased: has(FLAG.erased),
      attributes: this.attributes(id),
      sessionKey: session === 0 ? '' : (this.session(session)?.key ?? ''),
      hasVector: has(FLAG.vector) && !has(FLAG.erased),
      vector: vectors ? this.vector(id) : null,
      edges: edges ? this.edges(id) : null,
    };
  }

  /** The text of an event. */
  text(id: number): string {
    const { graph } = this;
    if ((graph.state(this.known(id)).flags & FLAG.erased) !== 0) return '';
    return id < graph.base.nodes ? graph.base.text(graph.base.record(id)) : this.textAt(graph.event(id).text);
  }

  private textAt({ at, size }: Place): string {
    return utf8(this.now.file.read('journal', at, size), 'journal', at);
  }

  /** The attributes of an event; none is an empty object. Of an erased one that is where it was merged from. */
  attributes(id: number): JsonObject {
    const { graph } = this;
    const state = graph.state(this.known(id));
    if ((state.flags & FLAG.attributes) === 0) return {};
    const told = state.attributes
      ? this.textAt(state.attributes)
      : state.attributes === null
        ? ''
        : graph.base.attributes(id);
    const erased = (state.flags & FLAG.erased) !== 0;
    try {
      const known = parseObject(told);
      return erased && Object.keys(known).join() !== ORIGIN ? {} : known;
    } catch (why) {
      if (erased) return {};
      throw new DamagedFile('attributes', state.attributes?.at ?? 0, `those of event ${id}: ${String(why)}`);
    }
  }

  /** The vector of an event; null if it has none. */
  vector(id: number): Float32Array | null {
    const { graph } = this;
    const state = graph.state(this.known(id));
    if ((state.flags & FLAG.erased) !== 0 || (state.flags & FLAG.vector) === 0 || state.vector === null) return null;
    const at = state.vector?.at ?? graph.base.vectorAt(id);
    const bytes = this.now.file.read('vector', at, 4 * this.dimension);
    const numbers = Float32Array.from({ length: this.dimension }, (_, place) => bytes.readFloatLE(4 * place));
    if (!numbers.every(Number.isFinite)) {
      throw new DamagedFile('vector', at, `that of event ${id} has a number that is not finite`);
    }
    return numbers;
  }

  /**
   * The edges of an event: those that start at it by target and type, then those that end at it by source and type.
   * Those to forgotten events are told as well.
   */
  edges(id: number): Edge[] {
    const { graph } = this;
    this.known(id);
    const told = (direction: 'outgoing' | 'incoming'): Edge[] =>
      graph.ties(id, direction).map(({ other, type, weight, created }) => ({
        source: direction === 'outgoing' ? id : other,
        target: direction === 'outgoing' ? other : id,
        type: typeName(EDGE_TYPES, type),
        weight,
        createdMicros: created,
      }));
    return [...told('outgoing'), ...told('incoming')];
  }

  /** What is believed now in place of an event; RangeError if it and all that replaces it is forgotten. */
  resolve(id: number): Resolved {
    const { graph } = this;
    const found = resolve(
      this.known(id),
      (of) =>
        graph
          .ties(of, 'incoming')
          .filter((tie) => tie.type === SUPERSEDES)
          .map((tie) => tie.other),
      (one) => (graph.state(one).flags & FLAG.forgotten) === 0,
    );
    if (!found) throw new RangeError(`event ${id} is forgotten, and so is all that replaces it`);
    const heads = found.heads.map((one) => this.get(one));
    return {
      head: heads[0] as Event,
      chain: found.chain.map((one) => this.get(one)),
      heads,
      contested: heads.length > 1,
    };
  }

  /** What is known of a session; null if there is none of this number. */
  session(number: number): Session | null {
    const { graph } = this;
    const [base, times] = [graph.base.findSession(number), graph.sessions.get(number)];
    if (!times) return base;
    const session: Session = base ?? {
      id: number,
      key: '',
      agent: '',
      openedMicros: times.firstEvent ?? 0n,
      explicit: false,
      lastEventMicros: 0n,
      closedMicros: null,
      outcome: '',
    };
    const used = (when: bigint): void => {
      if (when > session.lastEventMicros) session.lastEventMicros = when;
    };
    if (times.lastEvent !== undefined) used(times.lastEvent);
    if (times.opened) {
      const { key, agent, when } = times.opened;
      Object.assign(session, { key, agent, openedMicros: when, explicit: true });
      used(when);
    }
    if (times.closed) Object.assign(session, { outcome: times.closed.outcome, closedMicros: times.closed.when });
    return session;
  }

  /** Every session by number. */
  sessions(): Session[] {
    const { base, sessions } = this.graph;
    const numbers = new Set(sessions.keys());
    for (let place = 0; place < base.sessionCount(); place += 1) numbers.add(base.sessionAt(place).id);
    const sorted = [...numbers].sort((a, b) => a - b);
    return sorted.map((number) => this.session(number)).filter((session): session is Session => session !== null);
  }
}
