// The package alone, without a daemon: hashes, blocks, targets, conversions, and what takes a file's place.

import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';

import * as grpc from '@grpc/grpc-js';

import * as amemd from '../src/index';
import { Caller, isPassing } from '../src/call';
import { timestamp } from '../src/convert';
import { refused } from '../src/errors';
import { parse, parseObject, stringify } from '../src/json';
import type { Base } from '../src/reader/base';
import { File } from '../src/reader/file';
import { Graph } from '../src/reader/graph';
import { following } from '../src/reader/journal';
import { BadBlock, decompress } from '../src/reader/lz4';
import { operations } from '../src/reader/ops';
import { xxh3 } from '../src/reader/xxh3';
import { commitKind, errorInfo } from '../src/wire';
import { chance } from './chance';
import { compare, Mismatch, type Plain } from './compare';
import * as made from './made';
import { VECTORS, generated } from './vectors';

test('hashes are those of the specification', () => {
  for (const [size, seed, expected] of VECTORS) assert.equal(xxh3(generated(size), seed), expected, `${size}, ${seed}`);
});

test('literals and matches are unpacked', () => {
  const rows: [string, string][] = [
    ['0abc', 'abc'],
    // Three letters, then four from three back: an overlap; then one letter.
    ['0abc\x03\x00\x10d', 'abcabcad'],
    ['\x1fx\x01\x00\x0a\x00', 'x'.repeat(30)],
    [`\xf0\x01${'y'.repeat(16)}`, 'y'.repeat(16)],
  ];
  for (const [packed, expected] of rows) {
    assert.equal(decompress(Buffer.from(packed, 'latin1'), expected.length, 1000).toString('latin1'), expected);
  }
});

test('a bad block is reported and allocates little', () => {
  const rows: [string, number][] = [
    ['\x1f\x00\x00\x00\x00', 2 ** 32 - 1],
    ['0ab', 3],
    ['0abc\x04\x00\x00', 7],
    ['0abc\x00\x00\x00', 7],
    ['0abc\x03', 7],
    ['\xf0', 20],
    ['0abc', 2],
    ['0abc', 4],
    [`\x1fA\x01\x00${'\xff'.repeat(50)}`, 900],
  ];
  for (const [packed, size] of rows)
    assert.throws(() => decompress(Buffer.from(packed, 'latin1'), size, 1 << 20), BadBlock);
});

test('JSON keeps every digit and refuses what it has not', () => {
  const text =
    '{"n":18446744073709551615,"m":-9223372036854775808,"s":"1e400 \\"12345678901234567890\\"","f":0.5,"i":7}';
  const value = parseObject(text);
  assert.deepEqual([value['n'], value['m'], value['i']], [18446744073709551615n, -9223372036854775808n, 7]);
  assert.equal(stringify(value), text);
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) assert.throws(() => stringify({ bad }), RangeError);
  assert.throws(() => parseObject('[1]'), SyntaxError);
  // An end that never comes is looked for once.
  assert.throws(() => parse(`"${'\\"'.repeat(1 << 20)} 12345678901234567890`), SyntaxError);
  assert.deepEqual(parse('[9007199254740993, 9007199254740991, 1E2]'), [9007199254740993n, 9007199254740991, 100]);
});

test('times keep every microsecond', () => {
  assert.deepEqual(timestamp(-1n), { seconds: '-1', nanos: 999999000 });
  assert.deepEqual(timestamp(1935817689123456n), { seconds: '1935817689', nanos: 123456000 });
  assert.deepEqual(timestamp(new Date(-1500)), { seconds: '-2', nanos: 500000000 });
  assert.equal(amemd.toDate(1935817689123456n).toISOString(), '2031-05-06T07:08:09.123Z');
  assert.throws(() => amemd.toMicros(new Date('no date')), RangeError);
});

test('types without a name keep their number', () => {
  assert.equal(amemd.typeName(amemd.EVENT_TYPES, 200), 'type-200');
  assert.equal(amemd.typeNumber(amemd.EVENT_TYPES, 'type-200'), 200);
  for (const name of ['type-256', 'type-', 'facts', ''])
    assert.throws(() => amemd.typeNumber(amemd.EVENT_TYPES, name), RangeError);
});

test('the kinds of commits have the names of the format', () => {
  assert.deepEqual([1, 12, 99].map(commitKind), ['ingest', 'set-vector', 'kind-99']);
});

test('error info is found among the details, and bad bytes are none', () => {
  const field = (number: number, data: Buffer | string): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, data.length]), Buffer.from(data)]);
  const entry = Buffer.concat([field(1, 'oldest_after_lsn'), field(2, '7')]);
  const info = Buffer.concat([field(1, 'COMMITS_GONE'), field(2, 'amem.v1'), field(3, entry)]);
  const detail = (type: string, value: Buffer): Buffer =>
    field(3, Buffer.concat([field(1, `type.googleapis.com/google.rpc.${type}`), field(2, value)]));
  const status = Buffer.concat([
    Buffer.from([8, 11]),
    field(2, 'gone'),
    detail('DebugInfo', Buffer.from('x')),
    detail('ErrorInfo', info),
  ]);
  assert.deepEqual(errorInfo(status), { reason: 'COMMITS_GONE', metadata: { oldest_after_lsn: '7' } });
  for (let end = 0; end < status.length; end += 1) errorInfo(status.subarray(0, end));
  const draw = chance(5);
  for (let n = 0; n < 2000; n += 1) errorInfo(Buffer.from(Array.from({ length: draw(60) }, () => draw(256))));
});

test('only what passes is tried again', () => {
  const rows: [string, string, boolean][] = [
    ['UNAVAILABLE', 'RECOVERING', true],
    ['RESOURCE_EXHAUSTED', 'QUEUE_FULL', true],
    ['RESOURCE_EXHAUSTED', 'LOAD', true],
    ['RESOURCE_EXHAUSTED', 'DISK_FULL', false],
    ['ABORTED', 'CONDITION', false],
    ['DEADLINE_EXCEEDED', '', false],
  ];
  for (const [code, reason, passes] of rows) assert.equal(isPassing(refused(code, reason, '')), passes, reason);
});

test('an edge out of the batch is refused before anything is sent', async () => {
  const brain = Object.create(amemd.Brain.prototype) as amemd.Brain;
  const other: amemd.New = { type: 'fact', text: 'b' };
  await assert.rejects(brain.addMany([{ type: 'fact', text: 'a', causedBy: other }]), /not in the batch/);
});

test('request ids are of version 7, of now, and never the same', () => {
  const one = amemd.newRequestId();
  assert.match(one, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.ok(Math.abs(parseInt(one.replaceAll('-', '').slice(0, 12), 16) - Date.now()) < 5000);
  assert.equal(new Set(Array.from({ length: 1000 }, amemd.newRequestId)).size, 1000);
});

test('the default target is the named one', async () => {
  assert.equal(await amemd.defaultTarget({ AMEMD_SOCKET: '/s' }), 'unix:/s');
  assert.equal(await amemd.defaultTarget({ AMEMD_ADDRESS: 'h:1', AMEMD_SOCKET: '' }), 'h:1');
  await assert.rejects(amemd.defaultTarget({ AMEMD_ADDRESS: 'h:1', AMEMD_SOCKET: '/s' }), /unset one of them/);
});

test('a token goes to another machine by TLS or not at all', async () => {
  const here = ['unix:/s', 'localhost:1', 'LOCALHOST', '127.0.0.1:1', '127.8.9.1', '[::1]:1', 'dns:///localhost:1'];
  here.push('[::ffff:127.0.0.1]:1', 'ipv4:127.0.0.1:1', 'ipv6:[::1]:1', 'dns:localhost:1');
  const there = [
    ...['h:1', '192.0.2.7:1', '0.0.0.0:1', '[2001:db8::7]:1', 'localhost.h:1', '127.0.0.1.h:1', '127.0.0.999:1'],
    ...['ipv4:127.0.0.1:1,192.0.2.7:1', 'dns://192.0.2.7/localhost:1', 'h:1/localhost', 'xds:localhost:1', '[::g]:1', ''],
    ...['unix-abstract:1', 'dns:h:1', 'localhost@h:1', 'localhost\n', 'ipv4:192.0.2.7:1', '[::ffff:192.0.2.7]:1'],
  ];
  for (const target of here) new amemd.Client(target, { token: 'secret' }).close();
  for (const target of there)
    await assert.rejects(amemd.connect({ target, token: 'secret' }), /a token goes there by TLS only/, target);
  const tls = { authority: Buffer.from('') };
  new amemd.Client('h:1', { token: 'secret', tls }).close();
  new amemd.Client('h:1', {}).close();
});

test('a token of a file that others may read is refused', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'amemd-'));
  const file = path.join(folder, 'token');
  fs.writeFileSync(file, 'secret\n', { mode: 0o600 });
  const before = { ...process.env };
  const listening = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => listening.once('listening', resolve));
  const address = `127.0.0.1:${(listening.address() as net.AddressInfo).port}`;
  Object.assign(process.env, { AMEMD_ADDRESS: address, AMEMD_TOKEN_FILE: file, AMEMD_SOCKET: '' });
  try {
    (await amemd.connect()).close();
    fs.chmodSync(file, 0o640);
    await assert.rejects(amemd.connect(), /its mode is 0640.*chmod 600/);
  } finally {
    process.env = before;
    listening.close();
    fs.rmSync(folder, { recursive: true });
  }
});

test('a token and a key are in nothing that shows a client or what follows', async (t) => {
  // As if the library kept the key in its credentials.
  t.mock.method(grpc.credentials, 'createSsl', (_: Buffer, key: Buffer) =>
    Object.assign(grpc.credentials.createInsecure(), { key: key.toString() }),
  );
  const pem = (text: string): Buffer => Buffer.from(text);
  const tls = { authority: pem('authority'), certificate: pem('certificate'), key: pem('hidden-key') };
  const client = new amemd.Client('unix:/nowhere', { token: 'hidden-token', tls });
  const channelTo = (target: string): grpc.Client => new grpc.Client(target, grpc.credentials.createInsecure());
  const caller = new Caller('unix:/nowhere', channelTo, { token: 'hidden-token', timeout: 1000, retryFor: 0 });
  const commits = new amemd.Commits(caller, { brain: 'b' });
  const begun = commits.begin();
  for (const shown of [client, caller, commits]) {
    const told = [inspect(shown, { depth: null, showHidden: false }), JSON.stringify(shown)].join();
    for (const hidden of ['hidden', ...['hidden-token', 'hidden-key'].map((one) => Buffer.from(one).toString('base64'))])
      assert.ok(!told.includes(hidden), told);
  }
  commits.close();
  await begun;
  client.close();
  caller.close();
});

test('the reader loads nothing of gRPC', () => {
  const code = `require(${JSON.stringify(path.join(__dirname, '../src/reader'))});
    process.exit(Object.keys(require.cache).some((file) => file.includes('grpc')) ? 1 : 0)`;
  execFileSync(process.execPath, ['-e', code]);
});

test('operations of newer versions are refused or skipped, and chance is never anything else', () => {
  assert.throws(() => [...operations(Buffer.from([127]), 100)], amemd.NewerFile);
  const skipped = Buffer.from([0x90, 3, 0, 0, 0, 1, 2, 3, 0xc1, 0, 0, 0, 0]);
  const erase = Buffer.from([14, 7, 0, 0, 0, 0, 0, 0, 0]);
  const found = [...operations(Buffer.concat([skipped, erase, skipped]), 0)];
  assert.deepEqual(found, [...operations(erase, 0)]);
  assert.throws(() => [...operations(skipped.subarray(0, 7), 0)], amemd.DamagedFile);
  const draw = chance(11);
  for (let n = 0; n < 3000; n += 1) {
    const payload = Buffer.from([draw(19), ...Array.from({ length: draw(80) }, () => draw(256))]);
    try {
      for (const op of operations(payload, 0)) assert.ok(op.op);
    } catch (why) {
      assert.ok(why instanceof amemd.DamagedFile && why.position <= payload.length + 8, String(why));
    }
  }
});

test('the time of a change elsewhere changes nothing', () => {
  const stamps = [
    [16, ...Buffer.alloc(17)],
    [17, ...Buffer.alloc(25)],
    [18, ...Buffer.alloc(12)],
  ];
  const erase = Buffer.from([14, 7, 0, 0, 0, 0, 0, 0, 0]);
  const found = [...operations(Buffer.concat([...stamps.map((stamp) => Buffer.from(stamp)), erase]), 0)];
  assert.deepEqual(found.map((op) => op.op), ['stamp', 'stamp', 'stamp', 'erase']);
});

/** What is read of frames of one transaction. */
function transaction(payloads: string[], bytesMax?: number): ReturnType<typeof following> {
  const parts: Buffer[] = [];
  let checksum = 99n;
  payloads.forEach((payload, at) => {
    const front = Buffer.alloc(40);
    front.writeUInt32LE(payload.length, 0);
    front.writeUInt8(1, 4);
    front.writeUInt8(at + 1 < payloads.length ? 1 : 0, 5);
    front.writeBigUInt64LE(BigInt(5 + at), 8);
    front.writeBigInt64LE(7n, 16);
    checksum = xxh3(Buffer.concat([front.subarray(0, 32), Buffer.from(payload)]), checksum);
    front.writeBigUInt64LE(checksum, 32);
    parts.push(front, Buffer.from(payload), Buffer.alloc((8 - (payload.length % 8)) % 8));
  });
  return within(Buffer.concat(parts), (file) =>
    following(file, { at: 0, lsn: 4n, checksum: 99n }, file.size, bytesMax),
  );
}

/** What is read of a file with these bytes. */
function within<T>(bytes: Buffer, read: (file: File) => T): T {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'amemd-'));
  const name = path.join(folder, 'bytes');
  fs.writeFileSync(name, bytes);
  const file = new File(name);
  try {
    return read(file);
  } finally {
    file.close();
    fs.rmSync(folder, { recursive: true });
  }
}

/** What is left of attributes that are set after an event was erased. */
function leftOf(...attributes: string[]): string | null {
  const event = Buffer.alloc(35);
  event.writeUInt8(1, 0);
  event.writeBigInt64LE(1n, 15);
  event.writeFloatLE(1, 23);
  const erase = Buffer.alloc(9);
  erase.writeUInt8(14, 0);
  const sets = attributes.map((told) => {
    const front = Buffer.alloc(13);
    front.writeUInt8(5, 0);
    front.writeUInt32LE(told.length, 9);
    return Buffer.concat([front, Buffer.from(told)]);
  });
  const payload = Buffer.concat([event, erase, ...sets]);
  const base = { identity: { lsn: 0n, time: 0n }, nodes: 0, edgeCount: 0, dimension: 0 } as unknown as Base;
  const graph = new Graph(base);
  const after = { at: payload.length, lsn: 1n, checksum: 0n };
  const frames = [{ position: 0, size: payload.length }];
  within(payload, (file) => graph.apply({ lsn: 1n, time: 1n, actor: 0, frames, after }, file));
  const place = graph.state(0).attributes;
  return place ? payload.toString('utf8', place.at, place.at + place.size) : null;
}

test('attributes of an erased event that say more than its origin are passed over', () => {
  const origin = '{"amem.origin":{"event":7}}';
  for (const more of ['{"amem.origin":1,"a":2}', '{"a":2}', '[]', 'no JSON', '{}', '']) {
    assert.equal(leftOf(more), null, more);
    assert.equal(leftOf(origin, more), origin, more);
  }
});

test('a transaction goes on only behind frames that say something', () => {
  const { transaction: found, torn } = transaction(['one', 'two', '']);
  assert.equal(torn, undefined);
  // Where payloads stand is kept, and none of them.
  assert.deepEqual(found?.frames, [
    { position: 40, size: 3 },
    { position: 88, size: 3 },
    { position: 136, size: 0 },
  ]);
  for (const payloads of [
    ['', 'one'],
    ['one', '', 'two'],
  ]) {
    assert.throws(() => transaction(payloads), /DamagedFile.*empty frame/);
  }
});

test('the headers of a transaction count towards its limit', () => {
  const payloads = Array.from({ length: 10 }, () => '8 bytes.');
  assert.equal(transaction(payloads, 480).transaction?.frames.length, 10);
  assert.throws(() => transaction(payloads, 479), /DamagedFile.*limit/);
});

/** A folder with a brain's file in it that a daemon owns, and a reader of it; gone with the test. */
function followed(
  read: (reader: amemd.Reader, file: string, folder: string) => void,
  opened = (file: string): string => file,
): void {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'amemd-'));
  const file = path.join(folder, 'b.amem');
  made.publish(file, made.brain(['one']));
  const reader = new amemd.Reader(opened(file));
  try {
    assert.equal(reader.isLive, true);
    read(reader, file, folder);
  } finally {
    reader.close();
    fs.rmSync(folder, { recursive: true });
  }
}

test('a relative path is followed wherever the process goes', () => {
  const before = process.cwd();
  const relative = (file: string): string => {
    process.chdir(path.dirname(file));
    return path.basename(file);
  };
  followed((reader, file) => {
    process.chdir(before);
    made.tell(file, made.CELL.supersededBy, 2);
    made.publish(file, made.brain(['one', 'two'], 2));
    assert.equal(reader.refresh(), true);
    assert.deepEqual([reader.generation, reader.text(1), reader.isLive], [2n, 'two', true]);
  }, relative);
});

test('a file that was replaced by none that can be read says so', () => {
  followed((reader, file, folder) => {
    made.tell(file, made.CELL.supersededBy, 2);
    // The names are about to be exchanged.
    assert.equal(reader.refresh(), false);
    fs.renameSync(file, path.join(folder, 'aside'));
    const rows: [string, string | Buffer | undefined][] = [
      ['ENOENT', undefined],
      ['DamagedFile: header', 'no brain'],
      ['another brain', made.brain(['one', 'two'], 2, 'o'.repeat(16))],
      ['generation 1 is there', made.brain(['one', 'two'], 1)],
    ];
    for (const [why, data] of rows) {
      if (data !== undefined) fs.writeFileSync(file, data);
      const says = (error: unknown): boolean =>
        error instanceof amemd.Superseded && error.path === file && error.by === 2n && error.message.includes(why);
      for (let time = 0; time < 2; time += 1) {
        assert.throws(() => reader.refresh(), says, why);
        // The reader shows the old content.
        assert.deepEqual([reader.isLive, reader.lsn, reader.text(0)], [false, 1n, 'one']);
      }
    }
    made.publish(file, made.brain(['one', 'two'], 2));
    assert.equal(reader.refresh(), true);
    assert.deepEqual([reader.lsn, reader.isLive], [2n, true]);
  });
});

test('a link to a file that is about to be replaced is that file', () => {
  const linked = (file: string): string => {
    fs.symlinkSync(file, `${file}.link`);
    return `${file}.link`;
  };
  followed((reader, file) => {
    made.tell(file, made.CELL.supersededBy, 2);
    assert.equal(reader.refresh(), false);
    made.publish(file, made.brain(['one', 'two'], 2));
    assert.equal(reader.refresh(), true);
  }, linked);
});

test('a closed descriptor is not read, even if its number is in use again', () => {
  followed((reader, file, folder) => {
    const closed = new File(file);
    const { ino } = fs.statSync(file);
    closed.close();
    reader.close();
    assert.equal(made.isHeld(ino), false);
    const other = path.join(folder, 'other');
    made.own(other, made.brain(['another brain']));
    const numbers = [fs.openSync(other, 'r'), fs.openSync(other, 'r')];
    const reads = [
      () => reader.text(0),
      () => reader.lsn,
      () => [...reader.events()],
      () => reader.refresh(),
      () => closed.read('frame', 0, 4),
      () => closed.look(),
    ];
    for (const read of reads) assert.throws(read, /AmemError.*closed/, String(read));
    assert.equal(reader.isLive, false);
    reader.close();
    closed.close();
    for (const number of numbers) fs.closeSync(number);
  });
});

test('a file of which something was erased is let go of', () => {
  followed((reader, file, folder) => {
    const { ino } = fs.statSync(file);
    made.tell(file, made.CELL.supersededBy, 2);
    made.tell(file, made.CELL.mustDrop, 1);
    const aside = path.join(folder, 'aside');
    fs.renameSync(file, aside);
    for (let time = 0; time < 2; time += 1) {
      assert.throws(() => reader.refresh(), amemd.MustDrop);
      assert.equal(made.isHeld(ino), false);
      assert.equal(reader.isLive, false);
      assert.throws(() => reader.text(0), amemd.MustDrop);
    }
    // The file that comes next may have the inode of the one that was let go of.
    fs.truncateSync(aside);
    made.own(aside, made.brain(['1', 'two'], 2));
    fs.renameSync(aside, file);
    assert.equal(reader.refresh(), true);
    assert.deepEqual([reader.generation, reader.text(0), reader.isLive], [2n, '1', true]);
  });
});

test('a comparison of the conformance list can fail', () => {
  const rows: [Plain, Plain][] = [
    [1, 2],
    [1, '1'],
    [true, 1],
    [null, false],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 2 }],
    [[1], [1, 2]],
    [[1, 2], [1]],
    [1, [1]],
    [[{ a: 1 }], { $has: [{ a: 2 }] }],
    ['ab', { $text: 'c' }],
    [[1], { $len: 2 }],
    [1, { $above: 1 }],
    [1, { $below: 1 }],
    [1, { $near: 1.1 }],
    [9007199254740993n, 9007199254740992n],
  ];
  for (const [found, expected] of rows) assert.throws(() => compare(found, expected), Mismatch);
  compare({ a: [1, 'x', null], b: 3n }, { a: [1n, 'x', null], b: { $near: 3 } });
});
