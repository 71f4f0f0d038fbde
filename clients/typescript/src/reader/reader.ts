// The reader of one brain's file.

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
import { ORIGIN, type ByteRange } from './ops';
import { resolve } from './resolve';

/** Milliseconds between two checks of the path without a hint in the live page. */
const LOOK_EVERY = 1000;
const SUPERSEDES = 3;
/** The attribute with the reason of a correction. */
const REASON = 'amem.reason';
/** Reads of a committed frame before it counts as missing. */
const ATTEMPTS = 3;

/** The boot id; undefined where it is unknown. */
function bootId(): [bigint, bigint] | undefined {
  let id: string;
  try {
    id = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '');
  } catch {
    return undefined;
  }
  if (!/^[0-9a-f]{32}$/.test(id)) return undefined;
  return [BigInt(`0x${id.slice(0, 16)}`), BigInt(`0x${id.slice(16)}`)];
}

function uuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** One generation: its file, its base, and the applied part of its journal. */
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

  /** Applies newer commits. */
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

/** A brain's file, as of the last `refresh`. */
export class Reader {
  /** Absolute, so that a change of the working directory does not change the file. */
  readonly path: string;
  private now: Followed;
  private lookAt = performance.now() + LOOK_EVERY;
  /** The error that every read throws. */
  private failed: AmemError | undefined;
  private isClosed = false;
  /** True while newer commits are in a file that is not at the path. */
  private isLost = false;
  /** Since when and why the file at the path cannot be read. */
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

  /** The LSN of the newest commit shown. */
  get lsn(): bigint {
    return this.graph.lsn;
  }

  /** The recorded time of that commit. */
  get timeMicros(): Micros {
    return this.graph.time;
  }

  /** The brain's instance, a UUID. */
  get instance(): string {
    return uuid(this.graph.base.identity.instance);
  }

  /** The generation of the base. */
  get generation(): bigint {
    return this.graph.base.identity.generation;
  }

  /** Numbers in a vector; 0 for none. */
  get dimension(): number {
    return this.graph.base.dimension;
  }

  /** The number of events, including forgotten ones. */
  get length(): number {
    return this.graph.nodes;
  }

  get edgeCount(): number {
    return this.graph.edgeCount;
  }

  /**
   * True if a daemon owned the file when it was opened, so that `refresh` follows its commits. False once it
   * cannot: see `refresh`.
   */
  get isLive(): boolean {
    return this.now.isLive && this.now.file.isOpen && !this.isLost;
  }

  /** What follows the last whole transaction of a file that is not live; undefined for zeros. */
  get torn(): string | undefined {
    return this.now.isLive ? undefined : this.now.torn;
  }

  /** Closes the file. Later reads throw. */
  close(): void {
    this.now.file.close();
    this.isClosed = true;
    this.failed = new AmemError(`the reader of ${this.path} is closed`);
  }

  /**
   * Reads newer commits, also across checkpoints; true if there were any.
   *
   * MustDrop: something was erased and the successor of this file is not at the path; the reader has closed this file.
   * Superseded: this file was replaced, and no later file of this brain can be read at the path; the reader still shows
   * the old content. Both end once the successor is there. If an unreadable file lastingly replaces a file that no
   * daemon owns, its error is thrown.
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
        // Newer commits are in a file that is not at the path.
        this.isLost = true;
        throw this.failed ?? new Superseded(this.path, live.supersededBy, found);
      }
    }
    if (this.unread && !live && performance.now() >= this.unread.since + LOOK_EVERY) {
      // This file gets no more commits.
      throw this.failed ?? this.unread.why;
    }
    if (this.failed) throw this.failed;
    try {
      this.now.follow();
    } catch (why) {
      // A part of a commit may be applied.
      if (why instanceof DamagedFile) this.failed = why;
      throw why;
    }
    return this.now !== before || this.now.graph.lsn !== lsn;
  }

  /**
   * The file at the path, if it is a later generation of this instance, or this file and owned by now; undefined if it
   * is this file, unchanged; otherwise a description of the file, or why it cannot be read.
   */
  private successor(): Followed | string | undefined {
    const before = this.unread;
    this.unread = undefined;
    let about: fs.BigIntStats;
    try {
      // Follows links, as open does.
      about = fs.statSync(this.path, { bigint: true });
    } catch (why) {
      return String(why);
    }
    const { isOpen, id } = this.now.file;
    // The inode of a closed file may belong to another file by now.
    const same = isOpen && about.dev === id.device && about.ino === id.inode;
    if (same && (this.now.isLive || !this.now.isOwnedNow())) return undefined;
    let found: Followed;
    try {
      found = new Followed(this.path);
    } catch (why) {
      // The brain in memory is still whole; `refresh` throws if this lasts.
      this.unread = { since: before?.since ?? performance.now(), why };
      return String(why);
    }
    const [old, next] = [this.now.graph.base.identity, found.graph.base.identity];
    if (next.instance.equals(old.instance) && (next.generation > old.generation || same)) return found;
    found.file.close();
    return next.instance.equals(old.instance) ? `generation ${next.generation} is there` : 'another brain is there';
  }

  /** All events by id, as of the call. */
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

  /** An event by its id; RangeError if it does not exist. The text of an erased event is empty. */
  get(id: number, { vectors = false, edges = false }: { vectors?: boolean; edges?: boolean } = {}): Event {
    const { graph } = this;
    const state = graph.state(this.known(id));
    const inBase = id < graph.base.nodes;
    const { type, session, created } = inBase ? graph.base.record(id) : graph.event(id);
    const has = (flag: number): boolean => (state.flags & flag) !== 0;
    const { principal, agent } = graph.author(id);
    const attributes = this.attributes(id);
    const reason = attributes[REASON];
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
      attributes,
      sessionKey: session === 0 ? '' : (this.session(session)?.key ?? ''),
      hasVector: has(FLAG.vector) && !has(FLAG.erased),
      vector: vectors ? this.vector(id) : null,
      edges: edges ? this.edges(id) : null,
      by: principal,
      agent,
      reason: typeof reason === 'string' ? reason : '',
    };
  }

  /** The text of an event. */
  text(id: number): string {
    const { graph } = this;
    if ((graph.state(this.known(id)).flags & FLAG.erased) !== 0) return '';
    return id < graph.base.nodes ? graph.base.text(graph.base.record(id)) : this.textAt(graph.event(id).text);
  }

  private textAt({ at, size }: ByteRange): string {
    return utf8(this.now.file.read('journal', at, size), 'journal', at);
  }

  /** The attributes of an event, or an empty object. An erased event has only the origin of a merge. */
  attributes(id: number): JsonObject {
    const { graph } = this;
    const state = graph.state(this.known(id));
    if ((state.flags & FLAG.attributes) === 0) return {};
    const text = state.attributes
      ? this.textAt(state.attributes)
      : state.attributes === null
        ? ''
        : graph.base.attributes(id);
    const erased = (state.flags & FLAG.erased) !== 0;
    try {
      const known = parseObject(text);
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
   * The edges of an event: outgoing ones by target and type, then incoming ones by source and type. Includes edges to
   * forgotten events.
   */
  edges(id: number): Edge[] {
    const { graph } = this;
    this.known(id);
    const inDirection = (direction: 'outgoing' | 'incoming'): Edge[] =>
      graph.ties(id, direction).map(({ other, type, weight, created }) => ({
        source: direction === 'outgoing' ? id : other,
        target: direction === 'outgoing' ? other : id,
        type: typeName(EDGE_TYPES, type),
        weight,
        createdMicros: created,
      }));
    return [...inDirection('outgoing'), ...inDirection('incoming')];
  }

  /** The event believed now instead of an event; RangeError if it and all its successors are forgotten. */
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
    if (!found) throw new RangeError(`event ${id} and all its successors are forgotten`);
    const heads = found.heads.map((one) => this.get(one));
    return {
      head: heads[0] as Event,
      chain: found.chain.map((one) => this.get(one)),
      heads,
      contested: heads.length > 1,
    };
  }

  /** A session by its number; null if it does not exist. */
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

  /** All sessions, by number. */
  sessions(): Session[] {
    const { base, sessions } = this.graph;
    const numbers = new Set(sessions.keys());
    for (let place = 0; place < base.sessionCount(); place += 1) numbers.add(base.sessionAt(place).id);
    const sorted = [...numbers].sort((a, b) => a - b);
    return sorted.map((number) => this.session(number)).filter((session): session is Session => session !== null);
  }
}
