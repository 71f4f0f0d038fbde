// A connection to a daemon: where it is, who asks, and its brains.

import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';

import * as grpc from '@grpc/grpc-js';

import { Brain } from './brain';
import { Caller } from './call';
import { AlreadyExists } from './errors';
import { stringify } from './json';
import type { JsonObject } from './types';
import type { Message } from './wire';

const SYSTEM_SOCKET = '/run/amemd/amemd.sock';
/** A daemon that ends and comes again is met soon, and not asked all the time. */
const CHANNEL: grpc.ClientOptions = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.max_receive_message_length': 16 << 20,
  'grpc.enable_http_proxy': 0,
};

/** What a target names that is an address: gRPC takes the name of a resolver before it. */
const HOST = /^(?:dns:(?:\/\/\/)?|ipv4:|ipv6:)?(?:\[([0-9a-f:.]+)\]|([^[\]:/,]+))(?::[0-9]+)?$/i;
const LOOPBACK = new net.BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/** Whom a connection trusts, and who it says we are. All of it is PEM. */
export interface Tls {
  /** The certificates that vouch for the daemon's. */
  authority: Buffer;
  /** The name that the daemon's certificate must have; that of the target if it is not given. */
  name?: string;
  /** Our own certificate and its key, where the daemon asks for them. */
  certificate?: Buffer;
  key?: Buffer;
}

/** How a daemon is reached. */
export interface ConnectOptions {
  /** `unix:/path`, a path, or `host:port`; amemctl's daemon if it is not given. */
  target?: string;
  /** What TCP asks for. */
  token?: string;
  /** The name under which commits are kept. */
  agent?: string;
  tls?: Tls;
  /** Milliseconds of one attempt; 30 s if it is not given. */
  timeout?: number;
  /** Milliseconds for which what passes, such as a restart of the daemon, is tried again; 30 s if it is not given. */
  retryFor?: number;
}

/** How a brain is made. */
export interface BrainOptions {
  /** Make it if there is none. */
  create?: boolean;
  /** Numbers in a vector, 0 for none; those of the built-in embedder if it is not given. */
  dimension?: number;
  /** The name of the model that makes the vectors. */
  model?: string;
  settings?: JsonObject;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Where a daemon may listen that nobody named: the user's, and then the machine's. The list of amemctl. */
export function usualSockets(variables: Variables): string[] {
  // XDG overlooks relative paths.
  const given = (name: string): string | undefined => {
    const found = variables[name];
    return found !== undefined && path.isAbsolute(found) ? found : undefined;
  };
  const [run, home] = [given('XDG_RUNTIME_DIR'), given('HOME')];
  const data = given('XDG_DATA_HOME') ?? (home && `${home}/.local/share`);
  const found = run ? [`${run}/amemd/amemd.sock`] : [];
  if (data) found.push(`${data}/amem/run/amemd.sock`);
  if (variables['XDG_RUNTIME_DIR'] === undefined) found.push(`/run/user/${process.getuid?.() ?? 0}/amemd/amemd.sock`);
  return [...found, SYSTEM_SOCKET];
}

function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = net.connect(socket, () => {
      asked.destroy();
      resolve(true);
    });
    asked.on('error', () => resolve(false));
  });
}

/**
 * The daemon that amemctl would ask: AMEMD_SOCKET or AMEMD_ADDRESS, else the first usual socket on which one answers,
 * else the first of them.
 */
export async function defaultTarget(variables: Variables = process.env): Promise<string> {
  const { AMEMD_SOCKET: socket, AMEMD_ADDRESS: address } = variables;
  if (socket && address) throw new Error('AMEMD_SOCKET and AMEMD_ADDRESS are both set: which daemon is meant?');
  if (socket) return `unix:${socket}`;
  if (address) return address;
  const sockets = usualSockets(variables);
  for (const one of sockets) {
    if (await answers(one)) return `unix:${one}`;
  }
  return `unix:${sockets[0]}`;
}

/** True if a target is this machine, without asking anybody what a name stands for. */
function isHere(target: string): boolean {
  if (target.startsWith('unix:')) return true;
  const [, six, other = ''] = HOST.exec(target) ?? [];
  if (six) return LOOPBACK.check(six, 'ipv6');
  return net.isIPv4(other) ? LOOPBACK.check(other) : other.toLowerCase() === 'localhost';
}

/** What a file of ours has that nobody else may read; a file of another user is as that one wants it. */
function secret(file: string): string {
  const open = fs.openSync(file, 'r');
  try {
    const told = fs.fstatSync(open);
    const mode = told.mode & 0o7777;
    if (told.isFile() && told.uid === process.geteuid?.() && mode & 0o077) {
      const what = `others may use ${file} (its mode is ${mode.toString(8).padStart(4, '0')}), which is a secret`;
      throw new Error(`${what}: take that right away (chmod 600 ${file})`);
    }
    return fs.readFileSync(open, 'utf8');
  } finally {
    fs.closeSync(open);
  }
}

/**
 * A client of a daemon. Nothing is asked of it yet, so this fails only if what was given can't be used: a token is sent
 * to another machine by TLS or not at all.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  let { target, token } = options;
  if (target === undefined) {
    target = await defaultTarget();
    const file = process.env['AMEMD_TOKEN_FILE'];
    if (token === undefined && file && !target.startsWith('unix:')) token = secret(file);
  }
  if (target.startsWith('/')) target = `unix:${target}`;
  return new Client(target, { ...options, ...(token === undefined ? {} : { token: token.trim() }) });
}

/** A connection to a daemon. */
export class Client {
  readonly agent: string;
  private readonly caller: Caller;

  /** `connect` finds the target, too. */
  constructor(
    readonly target: string,
    { token, agent, tls, timeout = 30_000, retryFor = 30_000 }: ConnectOptions,
  ) {
    if (token && !tls && !isHere(target)) {
      throw new Error(
        `${target} is another machine, and without TLS anybody in between could read the token: ` +
          'give tls: { authority }, or go through a tunnel to this machine',
      );
    }
    this.agent = agent ?? (process.env['AMEM_AGENT'] || 'node');
    const credentials = tls
      ? grpc.credentials.createSsl(tls.authority, tls.key ?? null, tls.certificate ?? null)
      : grpc.credentials.createInsecure();
    const named = tls?.name ? { 'grpc.ssl_target_name_override': tls.name } : {};
    this.caller = new Caller(new grpc.Client(target, credentials, { ...CHANNEL, ...named }), token, timeout, retryFor);
  }

  /** A brain by its name; NotFound if there is none. */
  async brain(name: string, { create = false, dimension, model, settings }: BrainOptions = {}): Promise<Brain> {
    if (create) {
      const request: Message = { brain: name, settings_json: settings ? stringify(settings) : '' };
      if (dimension !== undefined) request['vectors'] = { dimension, ...(model ? { model } : {}) };
      else if (model) throw new Error('a model without the dimension of its vectors');
      try {
        await this.caller.call('CreateBrain', request);
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error;
      }
    }
    return new Brain(this.caller, name, this.agent, await this.caller.call('OpenBrain', { brain: name }));
  }

  /** The names of all brains, those that can't be opened too. */
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

  /** Takes a brain away for good. Its instance is named so that it is the brain that was meant. */
  async remove(name: string, instance: string): Promise<void> {
    await this.caller.call('RemoveBrain', { brain: name, instance });
  }

  /** The daemon's version; Unavailable if nobody answers. */
  async version(): Promise<string> {
    return (await this.caller.call('GetStatus', {})).version;
  }

  /** Ends the connection. Calls under way fail. */
  close(): void {
    this.caller.close();
  }
}
