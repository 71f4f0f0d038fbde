// The first contact with a daemon: finds the one that accepts a connection, or starts one.
//
// Promises: without a daemon the caller gets an `Unavailable` (NO_DAEMON) within two seconds; it names what was tried,
// why no daemon was started, and what to do.

import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getSystemErrorName } from 'node:util';

import { NO_DAEMON, refused, type Refused } from './errors';
import { Places, SYSTEM_SOCKET, isForeign, type Variables } from './place';
import { NotStarted, program, start } from './start';

/** Milliseconds from the beginning to the error. */
const PATIENCE = 2000;
/** Milliseconds in which a daemon that restarts is found, if none is started. */
const GRACE = 500;
/** Milliseconds between looks at the same sockets. */
const LOOK_EVERY = 20;
/** The longest path of a socket, in bytes. */
const PATH_BYTES_MAX = 107;
/** A host and a port, after gRPC's optional name of a resolver. */
const ADDRESS = /^(?:dns:(?:\/\/\/)?|ipv4:|ipv6:)?(?:\[([^[\]/]+)\]|([^[\]:/,]+))(?::([0-9]+))?$/;
const WORDS: Record<string, string> = {
  ENOENT: 'no such socket',
  ECONNREFUSED: 'connection refused',
  EACCES: 'permission denied',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ENOTSOCK: 'not a socket',
};

/** Sockets with the reason why each was not taken. */
type Tried = Map<string, string>;

/** The error if no daemon answers. */
export function unavailable(message: string): Refused {
  return refused('UNAVAILABLE', NO_DAEMON, message);
}

/** The path of a `unix:` target, absolute. */
export function pathOf(target: string): string | undefined {
  if (!target.startsWith('unix:')) return undefined;
  return path.resolve(target.slice(target.startsWith('unix://') ? 7 : 5));
}

/** Why a connection is not accepted; undefined if it is. */
function connects(to: net.NetConnectOpts, milliseconds: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const asked = net.connect(to);
    const done = (why?: string): void => {
      clearTimeout(timer);
      asked.destroy();
      resolve(why);
    };
    const timer = setTimeout(() => done(`no answer in ${Math.ceil(milliseconds / 1000)} s`), milliseconds);
    asked.once('connect', () => done());
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // Of a name with several addresses, the first one's error.
      const [first = error] = error instanceof AggregateError ? (error.errors as NodeJS.ErrnoException[]) : [error];
      const code = first.code ?? (first.errno === undefined ? '' : getSystemErrorName(first.errno));
      // A daemon listens, and its queue is full.
      if (code === 'EAGAIN') done();
      else if ('host' in to && ['ENOTFOUND', 'EAI_AGAIN'].includes(code)) done(`the name ${to.host} is not known`);
      else done(WORDS[code] ?? (code || first.message));
    });
  });
}

/** Why a socket does not accept a connection; undefined if it does. */
export async function ask(socket: string): Promise<string | undefined> {
  if (Buffer.byteLength(socket) > PATH_BYTES_MAX) return `its path is longer than ${PATH_BYTES_MAX} bytes`;
  if (isForeign(socket)) return 'its folder does not belong to this user';
  return connects({ path: socket }, PATIENCE);
}

/** Why an address does not accept a connection; undefined if it does, or if only gRPC can read it. */
async function askAddress(target: string, milliseconds: number): Promise<string | undefined> {
  const parts = ADDRESS.exec(target);
  if (!parts) return undefined;
  const [host, port] = [parts[1] ?? parts[2] ?? '', Number(parts[3] ?? 443)];
  return port > 65535 ? `${port} is not a port` : connects({ host, port }, milliseconds);
}

/** False if only gRPC can read a target. */
export function canAsk(target: string): boolean {
  return target.startsWith('unix:') || ADDRESS.test(target);
}

/** The first socket that accepts a connection, and the reasons of those before it. */
export async function look(sockets: string[]): Promise<{ found?: string; tried: Tried }> {
  const tried: Tried = new Map();
  for (const socket of sockets) {
    const why = await ask(socket);
    if (why === undefined) return { found: socket, tried };
    tried.set(socket, why);
  }
  return { tried };
}

/** Waits until an address accepts a connection; throws Unavailable if it does not. */
export async function meetAt(target: string): Promise<void> {
  const began = performance.now();
  for (;;) {
    const why = await askAddress(target, began + PATIENCE - 100 - performance.now());
    if (why === undefined) return;
    if (why !== WORDS['ECONNREFUSED'] || performance.now() - began > GRACE) {
      throw unavailable(`no amemd answers at ${target}: ${why}; start it, or correct the address`);
    }
    await sleep(LOOK_EVERY);
  }
}

/** How `meet` differs from the usual; tests change the last two. */
export interface Meeting {
  /** The only socket to try. */
  given?: string | undefined;
  autostart?: boolean;
  variables: Variables;
  patience?: number;
  systemSocket?: string;
}

/**
 * The path of a socket that accepts a connection: the given one, else one of the usual. Starts a daemon if none does;
 * throws Unavailable if none can be had.
 */
export async function meet(meeting: Meeting): Promise<string> {
  const { given, variables, patience = PATIENCE } = meeting;
  const began = performance.now();
  const places = new Places(variables);
  const looked = (): ReturnType<typeof look> => look(given === undefined ? places.sockets() : [given]);
  let { found, tried } = await looked();
  if (found) return found;
  let not: NotStarted;
  try {
    const path = startable(meeting, places, tried);
    const search = async (): Promise<string | undefined> => (await looked()).found;
    return await start(path, { socket: given, log: places.log, variables, search, until: began + patience - 100 });
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error;
    not = error;
  }
  while (!not.wasTried && performance.now() - began < GRACE) {
    await sleep(LOOK_EVERY);
    ({ found, tried } = await looked());
    if (found) return found;
  }
  const listed = [...tried].map(([socket, why]) => `${socket} (${why})`).join(', ');
  throw unavailable(`no amemd answers, and ${not.why}; ${not.remedy}; tried ${listed}`);
}

/** The program to start; throws NotStarted if none may be started. */
function startable(meeting: Meeting, places: Places, tried: Tried): string {
  const { given, autostart = true, variables, systemSocket = SYSTEM_SOCKET } = meeting;
  if (!autostart) throw new NotStarted('none is started, because autostart is off', 'start it, or allow autostart');
  if (!['', '0'].includes(variables['AMEM_NO_AUTOSTART'] ?? '')) {
    throw new NotStarted('none is started, because AMEM_NO_AUTOSTART is set', 'start it, or unset the variable');
  }
  if (given === systemSocket || (given === undefined && fs.existsSync(systemSocket))) {
    throw new NotStarted("this machine's is not this user's to start", 'run systemctl start amemd');
  }
  const named = variables['AMEMD_FOLDER'];
  const isOther = given !== undefined && given !== places.socket;
  if (isOther || (named && path.resolve(named) !== places.folder)) {
    // Another daemon may be about to come back there: one with the default folder would take its place.
    throw new NotStarted(
      'none is started but with the default socket and the default folder',
      `run amemd --folder ${named || 'FOLDER'} --socket ${given ?? places.socket}, or name neither`,
    );
  }
  const why = tried.get(given ?? '');
  if (why !== undefined && why !== WORDS['ENOENT'] && why !== WORDS['ECONNREFUSED']) {
    throw new NotStarted('a new one could not listen there', 'correct the socket');
  }
  return program(variables);
}

/** For a connection in use: keeps its target while that accepts connections, else finds another. Starts nothing. */
export async function choosesAgain(target: string): Promise<string> {
  const socket = pathOf(target);
  if (socket === undefined || (await ask(socket)) === undefined) return target;
  const { found } = await look(new Places(process.env).sockets());
  return found === undefined ? target : `unix:${found}`;
}

/** What to say of a daemon that does not answer any more. */
export async function silent(target: string, attempts: number, milliseconds: number): Promise<string> {
  const socket = pathOf(target);
  let why = socket === undefined ? await askAddress(target, 1000) : await ask(socket);
  const other = socket === undefined ? 'correct the address' : 'call connect, which finds or starts one';
  let remedy = `start it, or ${other}`;
  if (why === undefined) {
    why = 'it accepts connections, but they end without an answer';
    if (socket === undefined) remedy = 'check tls (authority, name, certificate) and the port';
  }
  const times = attempts === 1 ? 'once' : `${attempts} times in ${(milliseconds / 1000).toFixed(1)} s`;
  return `the daemon at ${target} does not answer, tried ${times}: ${why}; ${remedy}`;
}
