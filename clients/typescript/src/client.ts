// A connection to a daemon: its target, its credentials, and its brains.
//
// Not here: which sockets are tried (`place`), and the start of a daemon (`meet`, `start`).

import * as fs from 'node:fs';
import * as net from 'node:net';

import * as grpc from '@grpc/grpc-js';

import { Brain } from './brain';
import { Caller } from './call';
import { AlreadyExists } from './errors';
import { stringify } from './json';
import { canAsk, choosesAgain, look, meet, meetAt, pathOf } from './meet';
import { Places, type Variables } from './place';
import type { JsonObject } from './types';
import type { Message } from './wire';

/** Milliseconds for the first answer by TLS, where a wrong certificate looks like a daemon that restarts. */
const FIRST_PATIENCE = 5000;
/** Reconnects soon, but not constantly, to find a restarted daemon. */
const CHANNEL: grpc.ClientOptions = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.max_receive_message_length': 16 << 20,
  'grpc.enable_http_proxy': 0,
};

/** The host of an address, after gRPC's optional name of a resolver. */
const HOST = /^(?:dns:(?:\/\/\/)?|ipv4:|ipv6:)?(?:\[([0-9a-f:.]+)\]|([^[\]:/,]+))(?::[0-9]+)?$/i;
const LOOPBACK = new net.BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/** The authority that a connection trusts, and the client's own certificate. All fields are PEM. */
export interface Tls {
  /** The authority of the daemon's certificate. */
  authority: Buffer;
  /** The name in the daemon's certificate; default: the name of the target. */
  name?: string;
  /** The client's certificate and its key, if the daemon requires them. */
  certificate?: Buffer;
  key?: Buffer;
}

/** Options of a connection. */
export interface ConnectOptions {
  /** `unix:/path`, a path, or `host:port`; default: AMEMD_SOCKET or AMEMD_ADDRESS, else the user's or the machine's. */
  target?: string;
  /** Needed over TCP. */
  token?: string;
  /** The name that commits record. */
  agent?: string;
  tls?: Tls;
  /** Timeout of one attempt, in milliseconds; default 30 s. */
  timeout?: number;
  /** How long temporary failures, such as a restart of the daemon, are retried, in milliseconds; default 30 s. */
  retryFor?: number;
  /** Whether `connect` starts amemd if no daemon answers; default: true. */
  autostart?: boolean;
}

/** Options of a new brain. */
export interface BrainOptions {
  /** Creates the brain if it does not exist. */
  create?: boolean;
  /** Numbers in a vector, 0 for none; default: those of the built-in embedder. */
  dimension?: number;
  /** The name of the vectors' model. */
  model?: string;
  settings?: JsonObject;
}

/** The sockets that `connect` tries if none is given, in order. */
export function usualSockets(variables: Variables): string[] {
  return new Places(variables).sockets();
}

/**
 * AMEMD_SOCKET or AMEMD_ADDRESS, else the first usual socket that accepts a connection, else the first one. Starts no
 * daemon.
 */
export async function defaultTarget(variables: Variables = process.env): Promise<string> {
  const named = namedTarget(variables);
  if (named !== undefined) return named;
  const sockets = usualSockets(variables);
  return `unix:${(await look(sockets)).found ?? sockets[0]}`;
}

/** The target that the variables name. */
function namedTarget({ AMEMD_SOCKET: socket, AMEMD_ADDRESS: address }: Variables): string | undefined {
  if (socket && address) throw new Error('AMEMD_SOCKET and AMEMD_ADDRESS are both set: unset one of them');
  return socket ? `unix:${socket}` : address || undefined;
}

/** True if a target is this machine, without a name lookup. */
function isHere(target: string): boolean {
  if (target.startsWith('unix:')) return true;
  const [, six, other = ''] = HOST.exec(target) ?? [];
  if (six) return LOOPBACK.check(six, 'ipv6');
  return net.isIPv4(other) ? LOOPBACK.check(other) : other.toLowerCase() === 'localhost';
}

/** The content of a secret file. Fails if it is the user's own and others may use it; another user's is not checked. */
function secret(file: string): string {
  const open = fs.openSync(file, 'r');
  try {
    const about = fs.fstatSync(open);
    const mode = about.mode & 0o7777;
    if (about.isFile() && about.uid === process.geteuid?.() && mode & 0o077) {
      const what = `${file} is a secret, and others may use it (its mode is ${mode.toString(8).padStart(4, '0')})`;
      throw new Error(`${what}: run chmod 600 ${file}`);
    }
    return fs.readFileSync(open, 'utf8');
  } finally {
    fs.closeSync(open);
  }
}

/**
 * A client of a daemon: the one at `target`, else the one that AMEMD_SOCKET or AMEMD_ADDRESS names, else the user's,
 * else the machine's.
 *
 * Starts amemd if no daemon answers, unless the target is an address or another socket than the default
 * one, `autostart` is false, or AMEM_NO_AUTOSTART is set. Throws Unavailable within two seconds if none can be had. A token goes to another machine by TLS or not at all.
 * Later failures that are temporary, such as a restart of the daemon, are retried for `retryFor`; they start no daemon.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  let { target: given, token } = options;
  if (given === undefined) {
    given = namedTarget(process.env);
    const file = process.env['AMEMD_TOKEN_FILE'];
    if (token === undefined && file && given !== undefined && !given.startsWith('unix:')) token = secret(file);
  }
  const all = { ...options, ...(token === undefined ? {} : { token: token.trim() }) };
  if (given !== undefined && !/^(\/|unix:)/.test(given)) {
    checkToken(given, all);
    await meetAt(given);
    return new Client(given, all);
  }
  const socket = given === undefined ? undefined : pathOf(given.startsWith('/') ? `unix:${given}` : given);
  const found = await meet({ given: socket, autostart: options.autostart ?? true, variables: process.env });
  return new Client(`unix:${found}`, all, socket === undefined ? choosesAgain : undefined);
}

function checkToken(target: string, { token, tls }: ConnectOptions): void {
  if (token && !tls && !isHere(target)) {
    throw new Error(
      `${target} is another machine, and a token goes there by TLS only: ` +
        'pass tls: { authority }, or use a tunnel to this machine',
    );
  }
}

/** Makes channels to targets. */
function channels(tls: Tls | undefined): (target: string) => grpc.Client {
  const credentials = tls
    ? grpc.credentials.createSsl(tls.authority, tls.key ?? null, tls.certificate ?? null)
    : grpc.credentials.createInsecure();
  const named = tls?.name ? { 'grpc.ssl_target_name_override': tls.name } : {};
  return (target) => new grpc.Client(target, credentials, { ...CHANNEL, ...named });
}

/** A connection to a daemon. */
export class Client {
  readonly agent: string;
  private readonly caller: Caller;

  /** Use `connect`, which also finds the target. */
  constructor(target: string, options: ConnectOptions, again?: (target: string) => Promise<string>) {
    checkToken(target, options);
    const { token, agent, tls, timeout = 30_000, retryFor = 30_000 } = options;
    this.agent = agent ?? (process.env['AMEM_AGENT'] || 'node');
    const first = !tls && canAsk(target) ? undefined : FIRST_PATIENCE;
    this.caller = new Caller(target, channels(tls), { token, timeout, retryFor, again, first });
  }

  /** Where the daemon is: `unix:/path`, or its address. */
  get target(): string {
    return this.caller.target;
  }

  /** A brain by its name; NotFound if it does not exist. */
  async brain(name: string, { create = false, dimension, model, settings }: BrainOptions = {}): Promise<Brain> {
    if (create) {
      const request: Message = { brain: name, settings_json: settings ? stringify(settings) : '' };
      if (dimension !== undefined) request['vectors'] = { dimension, ...(model ? { model } : {}) };
      else if (model) throw new Error('a model needs the dimension of its vectors');
      try {
        await this.caller.call('CreateBrain', request);
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
      }
    }
    return new Brain(this.caller, name, this.agent, await this.caller.call('OpenBrain', { brain: name }));
  }

  /** The names of all brains, including those that cannot be opened. */
  async brains(): Promise<string[]> {
    const names: string[] = [];
    let token = '';
    do {
      const page = await this.caller.call('ListBrains', { page_token: token });
      for (const one of page.brains) names.push(one.brain);
      token = page.next_page_token;
    } while (token);
    return names;
  }

  /** Removes a brain for good. `instance` guards against removing another brain of that name. */
  async remove(name: string, instance: string): Promise<void> {
    await this.caller.call('RemoveBrain', { brain: name, instance });
  }

  /** The daemon's version. */
  async version(): Promise<string> {
    return (await this.caller.call('GetStatus', {})).version;
  }

  /** Closes the connection. Calls under way fail. */
  close(): void {
    this.caller.close();
  }
}
