// Hostile files: whatever is done to a brain's bytes, the reader throws DamagedFile or reads the file, within limits.
//
//     node dist/test/hostile.js --target unix:/path/to/amemd.sock
//
// The daemon creates a brain; the test damages copies of its file: it flips bits, enlarges numbers, truncates the file,
// and repairs the checksums of the journal's frames, as an attacker can. Some files claim a running daemon as their
// owner, and a wrong length. On a failure the exit code is 1, and the output has the seed and the error.

import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';

import { DamagedFile, MustDrop, Reader, connect, type New } from '../src/index';
import { xxh3 } from '../src/reader/xxh3';
import { chance } from './chance';

const { values: args } = parseArgs({
  options: { target: { type: 'string' }, token: { type: 'string' }, rounds: { type: 'string', default: '600' } },
});
const rounds = Number(args.rounds);

/** Maximum time for one file, in milliseconds. */
const PATIENCE = 10_000;
/** Maximum growth of the process's memory, in bytes. */
const ROOM = 256 << 20;

/** The bytes of a brain with every feature, in its base and in its journal. */
async function make(): Promise<Buffer> {
  const token = args.token ? { token: args.token } : {};
  const client = await connect({ target: args.target as string, agent: 'hostile', ...token });
  const brain = await client.brain('hostile', { create: true, dimension: 3 });
  for (const words of ['in the base', 'in the journal']) {
    await brain.session(words, async (session) => {
      const seen: New = {
        type: 'fact',
        text: `seen ${words}`,
        session: session.id,
        attributes: { n: 1 },
        vector: [1, 2, 3],
      };
      const long: New = { type: 'fact', text: `again and again ${words} `.repeat(30), supports: seen };
      const chosen: New = { type: 'decision', text: `chosen ${words}`, causedBy: [long, seen] };
      const [first = 0] = await brain.addMany([seen, long, chosen]);
      const corrected = await brain.correct(first, `corrected ${words}`);
      await brain.setAttributes(first, { n: 2 });
      await brain.setVector(first, [4, 5, 6]);
      await brain.pin(corrected);
      await brain.touch([first, corrected]);
      await brain.decay();
      await brain.setSettings({ fading_below: 0.5 });
      await brain.forget(corrected);
      await brain.link(0, 'related-to', 2);
      await brain.unlink(0, 'related-to', 2);
    });
    if (words === 'in the base') await brain.checkpoint();
  }
  client.close();
  const whole = fs.readFileSync(brain.file);
  const end = frames(whole, journal(whole)).at(-1)?.[1] ?? 0;
  // One page of the space for future frames is enough.
  return whole.subarray(0, end + 4096);
}

/** Calls every read of a reader. */
function readAll(file: string): number {
  const reader = new Reader(file);
  try {
    for (const { id } of reader.events()) {
      reader.edges(id);
      reader.vector(id);
      try {
        reader.resolve(id);
      } catch (why) {
        // It is forgotten.
        if (!(why instanceof RangeError)) throw why;
      }
    }
    reader.sessions();
    reader.refresh();
    return reader.length;
  } finally {
    reader.close();
  }
}

/** The position of the journal. */
function journal(data: Buffer): number {
  for (let at = 0; at < data.length; at += 4096) {
    if (data[at] === 0x7f && data.toString('latin1', at + 16, at + 24) === 'AMEMJRNL') return at;
  }
  throw new Error('the brain has no journal');
}

/** The payloads of the journal's frames, as ranges. */
function frames(data: Buffer, journalAt: number): [number, number][] {
  const found: [number, number][] = [];
  let at = journalAt + 8192;
  while (at + 40 <= data.length && data.subarray(at, at + 40).some((byte) => byte !== 0)) {
    const size = data.readUInt32LE(at);
    if (at + 40 + size > data.length) break;
    found.push([at + 40, at + 40 + size]);
    at += Math.ceil((40 + size) / 8) * 8;
  }
  return found;
}

/** Gives every frame its right checksum. */
function chained(data: Buffer, at: number): void {
  let checksum = xxh3(Buffer.concat([data.subarray(at + 40, at + 64), data.subarray(at + 80, at + 88)]));
  for (const [start, end] of frames(data, at)) {
    checksum = xxh3(Buffer.concat([data.subarray(start - 40, start - 8), data.subarray(start, end)]), checksum);
    data.writeBigUInt64LE(checksum, start - 8);
  }
}

/** The bytes, damaged at random. */
function changed(whole: Buffer, at: number, draw: (bound: number) => number): Buffer {
  const data = Buffer.from(whole);
  const payloads = frames(data, at);
  const kind = draw(6);
  if (kind === 0) return data.subarray(0, draw(data.length));
  let [from, to] = payloads[draw(payloads.length)] as [number, number];
  if (kind === 1) {
    const places: [number, number][] = [
      [0, 64],
      [0, at],
      [at, at + 96],
      [at + 8192, payloads.at(-1)?.[1] ?? 0],
    ];
    [from, to] = places[draw(4)] as [number, number];
  } else if (kind === 2) {
    // The sections' headers and the numbers at their beginnings.
    const marks: number[] = [];
    for (let i = 64; i < at; i += 1) {
      const tag = data[i] as number;
      if (tag > 0x40 && tag < 0x60 && data.subarray(i + 4, i + 9).every((byte) => byte === 0)) marks.push(i);
    }
    from = marks[draw(marks.length)] as number;
    to = Math.min(from + 40, at);
  }
  for (let times = [1, 1, 1, 3][draw(4)] as number; times > 0; times -= 1) {
    const place = from + draw(to - from);
    if (draw(2) === 0) {
      data[place] = (data[place] as number) ^ (1 << draw(8));
    } else {
      const numbers = [
        0n,
        1n,
        0xffn,
        0xffffn,
        1n << 31n,
        (1n << 32n) - 1n,
        (1n << 63n) - 1n,
        (1n << 64n) - 1n,
        BigInt(data.length),
      ];
      const number = numbers[draw(numbers.length)] as bigint;
      if (draw(2) === 0 && place + 8 <= data.length) data.writeBigUInt64LE(number, place);
      else if (place + 4 <= data.length) data.writeUInt32LE(Number(number & 0xffffffffn), place);
    }
  }
  if (kind > 2) chained(data, at);
  return data;
}

/** Marks a file as owned by a running daemon, with a random `committed`. */
function owned(file: string, data: Buffer, at: number, draw: (bound: number) => number): void {
  const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '');
  const about = fs.statSync(file, { bigint: true });
  const of = (choices: bigint[]): bigint => choices[draw(choices.length)] as bigint;
  const ends = frames(data, at).map(([, end]) => BigInt(end));
  if (ends.length === 0) ends.push(BigInt(at + 8192));
  const size = BigInt(data.length);
  const places = [0n, BigInt(at), ((of(ends) + 7n) / 8n) * 8n, of(ends) - BigInt(draw(40)), size, size + 4096n];
  const live = Buffer.alloc(256);
  live.writeBigUInt64LE(of([...places, 1n << 62n, (1n << 63n) - 1n]) | of([0n, 1n << 63n]), 0);
  [BigInt(`0x${boot.slice(0, 16)}`), BigInt(`0x${boot.slice(16)}`), about.dev, about.ino].forEach((cell, place) => {
    live.writeBigUInt64LE(cell, 64 + 8 * place);
  });
  live.writeBigUInt64LE(of([0n, 0n, 1n << 63n]), 128);
  live.writeBigUInt64LE(of([0n, 0n, 0n, 1n]), 192);
  const open = fs.openSync(file, 'r+');
  fs.writeSync(open, live, 0, live.length, at + 4096);
  fs.closeSync(open);
}

async function main(): Promise<void> {
  const whole = await make();
  const at = journal(whole);
  const again = Buffer.from(whole);
  chained(again, at);
  if (!again.equals(whole)) throw new Error('right checksums are not those of the file');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'amemd-'));
  const file = path.join(folder, 'hostile.amem');
  let [refused, read] = [0, 0];
  try {
    fs.writeFileSync(file, whole);
    const events = readAll(file);
    if (events < 3) throw new Error(`only ${events} events to lie about`);
    const before = process.memoryUsage().rss;
    for (let seed = 0; seed < rounds; seed += 1) {
      const draw = chance(seed);
      const data = seed % 8 === 0 ? whole : changed(whole, at, draw);
      fs.writeFileSync(file, data);
      const isOwned = seed % 4 === 0;
      if (isOwned) owned(file, data, at, draw);
      const began = performance.now();
      try {
        readAll(file);
        read += 1;
      } catch (why) {
        const isDamage = why instanceof DamagedFile && why.part && why.why && why.position >= 0;
        if (!isDamage && !(isOwned && why instanceof MustDrop)) {
          throw new Error(`seed ${seed}: ${(why as Error).stack ?? String(why)}`);
        }
        refused += 1;
      }
      const took = performance.now() - began;
      const room = process.memoryUsage().rss - before;
      if (took > PATIENCE || room > ROOM) throw new Error(`seed ${seed}: ${took.toFixed(0)} ms, ${room} bytes`);
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
  if (Math.min(refused, read) < rounds / 10) throw new Error(`${refused} refused, ${read} read: that proves little`);
  console.log(`${rounds} files that lie: ${refused} refused as damaged, ${read} read, none hung`);
}

main().catch((why: unknown) => {
  console.log(`FAILED: ${(why as Error).message}`);
  process.exit(1);
});
