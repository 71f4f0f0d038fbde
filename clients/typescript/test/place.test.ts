// The first contact: where a daemon is looked for, how one is started, and what is said if none can be had.
//
// With AMEMD, the path of the real daemon, also beside it; otherwise beside scripts in its place.

import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as path from 'node:path';
import { afterEach, beforeEach, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import * as grpc from '@grpc/grpc-js';

import { Caller } from '../src/call';
import * as amemd from '../src/index';
import { ask, meet, type Meeting } from '../src/meet';
import { Places, isForeign } from '../src/place';

const AMEMD = process.env['AMEMD'];
/** What gRPC says of a daemon that does not answer. */
const WORDS_OF_GRPC = ['connection established', 'resolution', 'ipv4:', 'RPC', 'channel', 'ENOENT', 'ECONNREFUSED'];
/** Milliseconds that a busy machine may take to start a script. */
const PATIENT = 20_000;
/** Writes what it was started with, and listens for a while at the given or the usual path. */
const LISTENS = `
const fs = require('fs'), path = require('path');
const where = process.argv[3] ?? process.env.HOME + '/.local/share/amem/run/amemd.sock';
fs.mkdirSync(path.dirname(where), { recursive: true });
// The sixth field of stat is the session.
const session = Number(fs.readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')[3]);
const [pid, folder, given, variables] = [process.pid, process.cwd(), process.argv.slice(2), process.env];
fs.writeFileSync(process.env.ABOUT, JSON.stringify({ pid, session, folder, given, variables }));
require('net').createServer((one) => one.on('error', () => {})).listen(where);
setTimeout(() => process.exit(), 30000);
`;

interface Case {
  name: string;
  variables: Record<string, string>;
  account_home?: string;
  files?: Record<string, string>;
  socket: string | null;
  folder: string | null;
  sockets: string[];
}

let root = '';
let [home, log, socket, system] = ['', '', '', ''];
let before: NodeJS.ProcessEnv = {};

// A home folder of its own for every test, short, because the path of a socket is bounded.
beforeEach(() => {
  root = fs.mkdtempSync('/tmp/amem-t-');
  home = path.join(root, 'home');
  log = path.join(home, '.local/state/amem/amemd.log');
  socket = path.join(home, '.local/share/amem/run/amemd.sock');
  system = path.join(root, 'system/amemd.sock');
  for (const folder of ['home', 'bin', 'run']) fs.mkdirSync(path.join(root, folder));
  before = process.env;
  process.env = { HOME: home, XDG_RUNTIME_DIR: path.join(root, 'run'), PATH: `${root}/bin:/usr/bin:/bin` };
});

afterEach(async () => {
  stop();
  process.env = before;
  await sleep(20);
  fs.rmSync(root, { recursive: true, maxRetries: 5 });
});

/** Ends the daemons that were started with this home. */
function stop(): void {
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (variables.includes(`HOME=${home}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

/** Puts a script on PATH in the place of amemd. */
function shell(text: string): void {
  fs.writeFileSync(path.join(root, 'bin/amemd'), `#!/bin/sh\ntouch ${root}/started\n${text}\n`, { mode: 0o755 });
}

/** Puts a script on PATH that listens; gives the file with what it was started with. */
function listens(): string {
  fs.writeFileSync(path.join(root, 'listens.js'), LISTENS);
  shell(`ABOUT=${root}/about exec ${process.execPath} ${root}/listens.js "$@"`);
  return path.join(root, 'about');
}

async function listen(t: TestContext, file: string): Promise<net.Server> {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const server = net.createServer((one) => one.destroy()).listen(file);
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  return server;
}

/** Connects as `connect` does, with time for a busy machine, and without the daemon of this machine. */
function met(how: Partial<Meeting> = {}): Promise<string> {
  return meet({ variables: process.env, patience: PATIENT, systemSocket: system, ...how });
}

function said(error: unknown): string {
  assert.ok(error instanceof amemd.Unavailable, String(error));
  assert.deepEqual([error.code, error.reason], ['UNAVAILABLE', 'NO_DAEMON']);
  for (const words of WORDS_OF_GRPC) assert.ok(!error.details.includes(words), error.details);
  return error.details;
}

/** The message of a first contact that fails in time. */
async function refused(first: Promise<unknown>, within = 2000): Promise<string> {
  const began = performance.now();
  const error = await first.then(
    () => assert.fail('it connected'),
    (why: unknown) => why,
  );
  assert.ok(performance.now() - began < within, `${performance.now() - began} ms`);
  return said(error);
}

const refusedMeet = (how: Partial<Meeting> = {}, within = 2000): Promise<string> =>
  refused(meet({ variables: process.env, systemSocket: system, ...how }), within);

test('every case of the list of places holds', () => {
  const file = path.join(__dirname, '../../../places.json');
  const { cases } = JSON.parse(fs.readFileSync(file, 'utf8')) as { cases: Case[] };
  assert.ok(cases.length > 20);
  cases.forEach((row, number) => {
    const folder = path.join(root, String(number));
    const text = JSON.stringify(row).replaceAll('$ROOT', folder).replaceAll('$UID', '7');
    const one = JSON.parse(text) as Case;
    for (const [name, content] of Object.entries(one.files ?? {})) {
      fs.mkdirSync(path.dirname(name), { recursive: true });
      fs.writeFileSync(name, content);
    }
    const places = new Places(one.variables, () => one.account_home, 7);
    const found = { socket: places.socket ?? null, folder: places.folder ?? null, sockets: places.sockets() };
    assert.deepEqual(found, { socket: one.socket, folder: one.folder, sockets: one.sockets }, one.name);
  });
});

test('the first socket that accepts is taken', async (t) => {
  const old = path.join(root, 'run/amemd/amemd.sock');
  await listen(t, old);
  assert.equal(await met(), old);
  await listen(t, socket);
  const client = await amemd.connect();
  assert.equal(client.target, `unix:${socket}`);
  client.close();
});

test('the socket in the lock is tried', async (t) => {
  const lock = path.join(home, '.local/share/amem/brains/.amemd/lock');
  fs.mkdirSync(path.dirname(lock), { recursive: true });
  fs.writeFileSync(lock, `pid 1\nsocket ${root}/s\n`);
  await listen(t, `${root}/s`);
  assert.equal(await met(), `${root}/s`);
});

test('a short socket in a folder of another user is not taken', async (t) => {
  await listen(t, `${root}/short-1/amemd.sock`);
  const uid = process.geteuid?.() ?? 0;
  assert.ok(!isForeign(`${root}/short-1/amemd.sock`, `${root}/short-`));
  assert.ok(isForeign(`${root}/short-1/amemd.sock`, `${root}/short-`, uid + 1));
  fs.symlinkSync(`${root}/short-1`, `${root}/short-2`);
  assert.ok(isForeign(`${root}/short-2/amemd.sock`, `${root}/short-`));
  assert.ok(!isForeign(`${root}/short-3/amemd.sock`, `${root}/short-`));
});

test('a daemon is started on its own', async () => {
  const about = listens();
  const brains = path.relative('', path.join(home, '.local/share/amem/brains'));
  Object.assign(process.env, { AMEMD_FOLDER: brains, AMEMD_LOG: 'debug' });
  assert.equal(await met(), socket);
  const found = JSON.parse(fs.readFileSync(about, 'utf8'));
  assert.deepEqual([found.session, found.folder, found.given], [found.pid, '/', []]);
  const { MALLOC_ARENA_MAX: arenas, AMEMD_FOLDER: folder, AMEMD_LOG: level } = found.variables;
  assert.deepEqual([arenas, folder, level], ['2', path.resolve(brains), 'debug']);
  const modes = [log, path.dirname(log)].map((file) => fs.statSync(file).mode & 0o7777);
  assert.deepEqual(modes, [0o600, 0o700]);
});

test('a default socket is passed on, and the variable names the program', async () => {
  const about = listens();
  fs.renameSync(`${root}/bin/amemd`, `${root}/other`);
  process.env['AMEMD'] = `${root}/other`;
  assert.equal(await met({ given: socket }), socket);
  assert.deepEqual(JSON.parse(fs.readFileSync(about, 'utf8')).given, ['--socket', socket]);
});

test('none is started in the place of another', async () => {
  shell('exit 3');
  const given = `${root}/given/s`;
  assert.match(await refusedMeet({ given }), new RegExp(`run amemd --folder FOLDER --socket ${given}`));
  process.env['AMEMD_FOLDER'] = `${root}/f`;
  assert.match(await refusedMeet(), new RegExp(`run amemd --folder ${root}/f --socket ${socket}`));
  assert.ok(!fs.existsSync(`${root}/started`));
});

test('the last words of a daemon that fails are shown', async () => {
  shell("echo 'the folder is on fire' >&2; exit 3");
  const message = await refusedMeet();
  for (const words of ['exit code 3', 'the folder is on fire', log, '--check-config', socket])
    assert.ok(message.includes(words), message);
  shell('kill -9 $$');
  assert.match(await refusedMeet(), /ended with signal SIGKILL: it printed nothing/);
});

test('a daemon that takes long is not awaited', async () => {
  shell('exec sleep 30');
  assert.match(await refusedMeet({}, 2200), /was started and does not listen yet; try again/);
});

test('a folder in use makes the client look again', async (t) => {
  shell('exit 75');
  const late = sleep(600).then(() => listen(t, socket));
  assert.equal(await met(), socket);
  await late;
});

test('a folder in use by a daemon out of sight is said', async () => {
  shell("echo 'process 7 has it' >&2; exit 75");
  assert.match(await refusedMeet({}, 2200), /folder in use.*process 7 has it.*AMEMD_SOCKET/);
});

test('none is started if the caller opted out', async () => {
  shell('exit 3');
  assert.match(await refused(amemd.connect({ target: socket, autostart: false })), /autostart is off/);
  for (const value of ['1', 'true', 'no']) {
    process.env['AMEM_NO_AUTOSTART'] = value;
    assert.match(await refusedMeet(), /AMEM_NO_AUTOSTART is set/);
  }
  assert.ok(!fs.existsSync(`${root}/started`));
  for (const value of ['0', '']) {
    process.env['AMEM_NO_AUTOSTART'] = value;
    assert.match(await refusedMeet(), /exit code 3/);
  }
});

test('the daemon of the machine is not replaced', async () => {
  shell('exit 3');
  fs.mkdirSync(path.dirname(system));
  fs.writeFileSync(system, '');
  assert.match(await refusedMeet(), /systemctl start amemd/);
  assert.match(await refusedMeet({ given: system }), /systemctl start amemd/);
});

test('a missing program is said with what was tried', async () => {
  process.env['PATH'] = '/nowhere';
  const message = await refusedMeet();
  for (const words of ['no amemd on PATH', `${socket} (no such socket)`, '/run/amemd/amemd.sock', 'set AMEMD'])
    assert.ok(message.includes(words), message);
  process.env['AMEMD'] = '/nowhere/amemd';
  assert.match(await refusedMeet(), /AMEMD names \/nowhere\/amemd, which is not a program/);
});

test('a log that is not ours is refused', async () => {
  shell('exit 3');
  fs.mkdirSync(path.dirname(log), { recursive: true });
  fs.writeFileSync(`${root}/other`, '');
  fs.symlinkSync(`${root}/other`, log);
  assert.match(await refusedMeet(), /cannot be written/);
  fs.rmSync(path.dirname(log), { recursive: true });
  fs.symlinkSync(`${root}/run`, path.dirname(log));
  assert.match(await refusedMeet(), /is a link/);
  assert.equal(fs.readFileSync(`${root}/other`, 'utf8'), '');
});

test('a large log is rotated', async () => {
  shell('exit 3');
  fs.mkdirSync(path.dirname(log), { recursive: true });
  fs.writeFileSync(log, '');
  fs.truncateSync(log, (8 << 20) + 1);
  await refusedMeet();
  assert.deepEqual([fs.statSync(log).size, fs.statSync(`${log}.1`).size], [0, (8 << 20) + 1]);
});

test('a given target that does not answer is said in time', async () => {
  process.env['PATH'] = '/nowhere';
  const unused = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => unused.once('listening', resolve));
  const target = `127.0.0.1:${(unused.address() as net.AddressInfo).port}`;
  await new Promise((resolve) => unused.close(resolve));
  assert.ok((await refused(amemd.connect({ target }))).startsWith(`no amemd answers at ${target}: connection refused`));
  assert.match(await refused(amemd.connect({ target: 'unix:/nowhere/s' })), /no such socket/);
  assert.match(await refused(amemd.connect({ target: `/${'s'.repeat(108)}` })), /longer than 107 bytes/);
  assert.match(await refused(amemd.connect({ target: 'nowhere.invalid:1' })), /is not known|no answer/);
  process.env['AMEMD_ADDRESS'] = target;
  assert.ok((await refused(amemd.connect())).includes(target));
});

test('a daemon that restarts is found', async (t) => {
  const late = sleep(200).then(() => listen(t, socket));
  assert.equal(await met({ autostart: false }), socket);
  await late;
});

test('at the end of the attempts the daemon is named', async (t) => {
  const server = await listen(t, socket);
  const client = await amemd.connect({ retryFor: 300 });
  server.close();
  const error = await client.version().catch((why: unknown) => why);
  const words = /^the daemon at unix:.*amemd\.sock does not answer, tried \d+ times in 0\..*no such socket; start it/;
  assert.match(said(error), words);
  client.close();
});

test('a first answer that does not come is said soon', async (t) => {
  await listen(t, socket);
  const channelTo = (target: string): grpc.Client => new grpc.Client(target, grpc.credentials.createInsecure());
  const caller = new Caller(`unix:${socket}`, channelTo, { timeout: 1000, retryFor: 30_000, first: 300 });
  assert.match(await refused(caller.call('GetStatus', {})), /accepts connections, but they end without an answer/);
  caller.close();
});

test('the real daemon is started for a new user, and found after it moved', { skip: !AMEMD }, async () => {
  process.env = { HOME: home, AMEMD, XDG_RUNTIME_DIR: '' };
  await met();
  const client = await amemd.connect();
  const brain = await client.brain('work', { create: true, dimension: 0 });
  await brain.addFact('it works from nothing');
  const commits = await brain.subscribe();
  stop();
  process.env['XDG_RUNTIME_DIR'] = `${root}/run`;
  const moved = path.join(root, 'run/amemd/amemd.sock');
  const late = sleep(300).then(() => {
    spawn(AMEMD as string, ['--socket', moved], { env: process.env, stdio: 'ignore' });
  });
  assert.equal(await brain.addFact('it moved'), 1);
  await late;
  assert.equal(client.target, `unix:${moved}`);
  const next = await commits.next();
  assert.equal(next.value.changes[0].event.text, 'it moved');
  commits.close();
  client.close();
});

test('nothing is started in the middle', { skip: !AMEMD }, async () => {
  process.env = { HOME: home, AMEMD, XDG_RUNTIME_DIR: '' };
  await met();
  const client = await amemd.connect({ retryFor: 300 });
  stop();
  assert.match(said(await client.version().catch((why: unknown) => why)), /does not answer/);
  assert.notEqual(await ask(socket), undefined);
  client.close();
});

test('many at once find one daemon', { skip: !AMEMD }, async () => {
  process.env = { HOME: home, AMEMD, XDG_RUNTIME_DIR: '' };
  assert.deepEqual(new Set(await Promise.all([met(), met(), met(), met()])), new Set([socket]));
});
