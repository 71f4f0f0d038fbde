// The conformance list of the client packages, in Node, beside a running daemon.
//
//     node dist/test/conformance.js --target unix:/path/to/amemd.sock --cases clients/conformance.json
//
// clients/README.md explains the cases. Prints the name of each case that passes; if one fails, prints the case and the
// step, and exits with 1. When it prints RESTART on its own line, kill the daemon, start it again on the same folder and
// target, and send a line.

import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import * as readline from 'node:readline';
import { parseArgs } from 'node:util';

import * as amemd from '../src/index';
import { parse } from '../src/json';
import { compare, Mismatch, snakeCase, type Plain } from './compare';

const { values: args } = parseArgs({
  options: {
    target: { type: 'string' },
    token: { type: 'string' },
    // The authority of the daemon's certificate, which is for localhost.
    authority: { type: 'string' },
    // The folder of the brains, which a daemon does not tell by TCP.
    folder: { type: 'string', default: '' },
    cases: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});

type Fields = { [name: string]: Plain };
interface Step {
  do: string;
  args?: Plain[];
  with?: Fields;
  expect?: Plain;
  save?: string | Record<string, string>;
  refused?: Fields;
  fails?: string;
}
interface Listed {
  name: string;
  brain?: Fields;
  steps: Step[];
}
// Methods called by a name of the list, with the list's types.
type Called = any;

/** The result of a call as the list has it: JSON, with Python's names. */
function plain(value: unknown): Plain {
  if (value === null || value === undefined) return null;
  if (value instanceof Float32Array) return [...value];
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (typeof value !== 'object') return value as Plain;
  // The keys of attributes are the user's.
  const own = (key: string, one: unknown): [string, Plain] =>
    key === 'attributes' ? [key, one as Plain] : [snakeCase(key), plain(one)];
  return Object.fromEntries(Object.entries(value).map(([key, one]) => own(key, one)));
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Fields with TypeScript's names; the keys in attributes, filters and settings are the user's. */
function named(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(named);
  if (value === null || typeof value !== 'object') return value;
  const users = ['attributes', 'filter', 'settings'];
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [camelCase(key), users.includes(key) ? one : named(one)]),
  );
}

const lines = readline.createInterface({ input: process.stdin });

/** A case under way: its brain, what it saved, its reader, its subscription. */
class Case {
  private readonly saved: Record<string, Plain> = {};
  private reader: amemd.Reader | undefined;
  private commits: amemd.Commits | undefined;
  private folder: string | undefined;

  constructor(
    private readonly client: amemd.Client,
    private readonly brain: amemd.Brain,
  ) {}

  close(): void {
    this.commits?.close();
    this.reader?.close();
    if (this.folder) fs.rmSync(this.folder, { recursive: true });
  }

  save(as: Step['save'], found: Plain): void {
    if (typeof as === 'string') this.saved[as] = found;
    else for (const [name, field] of Object.entries(as ?? {})) this.saved[name] = (found as Fields)[field] ?? null;
  }

  /** A value of a case, with saved results in place of their names. */
  filled(value: Plain): Plain {
    if (typeof value === 'string' && value.startsWith('$')) {
      const found = this.saved[value.slice(1)];
      if (found === undefined) throw new Mismatch(`nothing was saved as ${value}`);
      return found;
    }
    if (Array.isArray(value)) return value.map((one) => this.filled(one));
    if (value === null || typeof value !== 'object') return value;
    if (typeof value['$time'] === 'string') return micros(value['$time']);
    if (value['$micros'] !== undefined) return { time: BigInt(this.filled(value['$micros']) as bigint) };
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.filled(one)]));
  }

  async run(step: Step): Promise<Plain> {
    const given = (this.filled(step.args ?? []) as Plain[]).map((one) =>
      step.do === 'set_attributes' || step.do === 'set_settings' ? one : named(one),
    );
    const options = named(this.filled(step.with ?? {})) as Record<string, unknown>;
    if ('asOf' in options && typeof options['asOf'] !== 'object') options['asOf'] = { lsn: options['asOf'] };
    const name = camelCase(step.do);
    if (step.do === 'add_many') given[0] = batch(given[0] as Fields[]);
    const all = Object.keys(options).length > 0 ? [...given, options] : given;
    if (name.startsWith('client.')) return plain(await (this.client as Called)[name.slice(7)](...all));
    if (name.startsWith('reader.')) return plain((this.reader as Called)[name.slice(7)](...all));
    const own = (this as Called)[`do_${step.do}`];
    if (own) return plain(await own.apply(this, all));
    // Options come last, after optional arguments.
    return plain(await (this.brain as Called)[name](...all));
  }

  do_lsn(): Plain {
    return this.brain.lsn;
  }

  do_new_request_id(): Plain {
    return amemd.newRequestId();
  }

  do_pause(seconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }

  do_restart(): Promise<unknown> {
    console.log('RESTART');
    return new Promise((resolve) => lines.once('line', resolve));
  }

  async do_add_numbered(count: number): Promise<void> {
    for (let start = 0; start < count; start += 500) {
      const numbers = Array.from({ length: Math.min(500, count - start) }, (_, n) => start + n);
      await this.brain.addMany(numbers.map((n): amemd.New => ({ type: 'fact', text: `number ${n}` })));
    }
  }

  /** A text of `size` bytes, partly repeating. */
  do_add_long(size: number): Promise<number> {
    const words = Array.from({ length: Math.floor(size / 20) }, (_, n) => `word ${n} again and again, `);
    return this.brain.addFact(words.join('').slice(0, size));
  }

  do_with_session(key: string, text: string, outcome: string): Promise<number> {
    return this.brain.session(key, async (session) => {
      await this.brain.addFact(text, { session: session.id });
      session.outcome = outcome;
      return session.id;
    });
  }

  /** Takes only options, except for a state. */
  do_sessions(...given: Called[]): Promise<amemd.Session[]> {
    return typeof given[0] === 'string' ? this.brain.sessions(given[0] as 'closed') : this.brain.sessions('', given[0]);
  }

  async do_subscribe(afterLsn?: number): Promise<void> {
    this.commits = await this.brain.subscribe(afterLsn);
  }

  /** The next commits, without touches, which the daemon commits when idle. */
  async do_next_commits(count: number): Promise<amemd.Commit[]> {
    const found: amemd.Commit[] = [];
    while (this.commits && found.length < count) {
      const { value, done } = await this.commits.next();
      if (done) throw new Mismatch('the subscription ended');
      const last = found.at(-1);
      if (last && value.lsn <= last.lsn) throw new Mismatch(`LSN ${value.lsn} after ${last.lsn}`);
      if (value.kind !== 'touch') found.push(value);
    }
    return found;
  }

  /** True if a subscription ends that other code closes. */
  async do_closed_while_it_waits(): Promise<boolean> {
    setTimeout(() => this.commits?.close(), 50);
    return (await this.commits?.next())?.done === true;
  }

  file(): string {
    return this.brain.file || path.join(args.folder, `${this.brain.name}.amem`);
  }

  do_reader(): void {
    this.reader = new amemd.Reader(this.file());
  }

  do_reader_of_a_copy(): void {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'amemd-'));
    const copy = path.join(this.folder, 'copy.amem');
    fs.copyFileSync(this.file(), copy);
    this.reader = new amemd.Reader(copy);
  }

  do_reader_says(what: string): unknown {
    return (this.reader as Called)[camelCase(what)];
  }

  /** How far the reader is behind, at most: commits answered that the next `refresh` does not show. */
  async do_reader_keeps_up(commits: number): Promise<number> {
    const { reader, brain } = this;
    let behind = 0n;
    for (let number = 0; number < commits; number += 1) {
      if (number === Math.floor(commits / 2)) await brain.checkpoint();
      await brain.addFact(`commit ${number}`);
      reader?.refresh();
      const lag = brain.lsn - (reader?.lsn ?? 0n);
      if (lag > behind) behind = lag;
    }
    return Number(behind);
  }

  do_file_has(text: string): boolean {
    return fs.readFileSync(this.file()).includes(text);
  }

  /** Compares every event, edge, session and head. */
  async do_reader_equals_daemon(): Promise<void> {
    this.reader ??= new amemd.Reader(this.file());
    const { reader, brain } = this;
    let told: amemd.Event[] = [];
    let ids: number[] = [];
    for (let attempt = 0; ; attempt += 1) {
      reader.refresh();
      ids = Array.from({ length: reader.length }, (_, id) => id);
      told = await brain.getMany(ids, { includeForgotten: true, vectors: true, edges: true, touch: false });
      // The daemon commits touches when idle: both must show the same commit.
      if (brain.lsn === reader.lsn) break;
      if (!reader.isLive || attempt === 99)
        throw new Mismatch(`the reader is at ${reader.lsn}, the daemon at ${brain.lsn}`);
    }
    let edges = 0;
    for (const id of ids) {
      const [mine, daemons] = [reader.get(id, { vectors: true, edges: true }), told[id] as amemd.Event];
      edges += mine.edges?.filter((edge) => edge.source === id).length ?? 0;
      compare(mine.strength, { $near: daemons.strength }, `strength of ${id}`);
      compare(plain({ ...mine, strength: 0 }), plain({ ...daemons, strength: 0 }), `event ${id}`);
    }
    compare(edges, reader.edgeCount, 'the number of edges');
    compare(plain(reader.sessions()), plain(await brain.sessions('', { oldestFirst: true, limit: null })), 'sessions');
    for (const { id } of told.filter((event) => !event.forgotten)) {
      // The daemon shows a forgotten event of a chain as a stub.
      const part = ({ chain, heads, contested }: amemd.Resolved): Plain => ({
        chain: chain.map((event) => event.id),
        heads: heads.map((event) => event.id),
        contested,
      });
      compare(part(reader.resolve(id)), part(await brain.resolve(id, { touch: false })), `what is believed of ${id}`);
    }
  }
}

/** Microseconds of an RFC 3339 time in UTC. */
function micros(time: string): bigint {
  const [, seconds, fraction = ''] = /^(.*?)(?:\.(\d{1,6}))?Z$/.exec(time) ?? [];
  return BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

/** The events of a batch; "#n" is the n-th of them. */
function batch(events: Fields[]): amemd.New[] {
  const made: amemd.New[] = [];
  const edges = ['causedBy', 'supports', 'contradicts', 'supersedes', 'relatedTo', 'partOf', 'follows'];
  const end = (value: Plain): unknown => {
    if (Array.isArray(value)) return value.map(end);
    return typeof value === 'string' ? made[Number(value.slice(1))] : value;
  };
  for (const event of events) {
    const fields = Object.entries(event).map(([key, value]) => [key, edges.includes(key) ? end(value) : value]);
    made.push(Object.fromEntries(fields));
  }
  return made;
}

async function run(client: amemd.Client, number: number, listed: Listed): Promise<void> {
  const brain = await client.brain(`case-${number}`, { create: true, ...(listed.brain as object) });
  const state = new Case(client, brain);
  try {
    for (const [place, step] of listed.steps.entries()) {
      const where = `step ${place}, ${step.do}`;
      let found: Plain;
      try {
        found = await state.run(step);
      } catch (error) {
        if (error instanceof amemd.Refused && step.refused) {
          const { code, reason, name } = error;
          compare({ code, reason, kind: name }, step.refused, `${where}: the refusal`);
          if (!error.details) throw new Mismatch(`${where}: a refusal without a message`);
          continue;
        }
        if (error instanceof RangeError && step.fails && error.message.includes(step.fails)) continue;
        throw error instanceof amemd.AmemError || error instanceof Mismatch
          ? new Mismatch(`${where}: ${error.message}`)
          : error;
      }
      if (step.refused || step.fails) throw new Mismatch(`${where}: it was not refused`);
      if (step.expect !== undefined) compare(found, state.filled(step.expect), `${where}: it`);
      state.save(step.save, found);
    }
  } finally {
    state.close();
  }
}

async function main(): Promise<void> {
  const { cases } = parse(fs.readFileSync(args.cases as string, 'utf8')) as unknown as { cases: Listed[] };
  const chosen = [...cases.entries()].filter(([, listed]) => listed.name.includes(args.only as string));
  const began = performance.now();
  const client = await amemd.connect({
    target: args.target as string,
    agent: 'conformance',
    ...(args.token ? { token: args.token } : {}),
    ...(args.authority ? { tls: { authority: fs.readFileSync(args.authority), name: 'localhost' } } : {}),
  });
  for (const [number, listed] of chosen) {
    try {
      await run(client, number, listed);
    } catch (why) {
      // Any error names the case.
      console.log(`FAILED: ${listed.name}: ${why instanceof Mismatch ? why.message : ((why as Error).stack ?? why)}`);
      process.exit(1);
    }
    console.log(`ok: ${listed.name}`);
  }
  client.close();
  lines.close();
  console.log(`${chosen.length} cases in ${((performance.now() - began) / 1000).toFixed(1)} s, over ${args.target}`);
}

void main();
