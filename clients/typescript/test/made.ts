// Brains' files that a test makes without a daemon: a base without events, and a journal with one event a frame.
//
// The functions imitate a daemon that owns the file: `publish` gives a file its name, `tell` sets a cell of its live
// page. Not here: what a reader must make of it (`package.test`).

import * as fs from 'node:fs';

import { xxh3 } from '../src/reader/xxh3';

const JOURNAL = 4096;
const LIVE = JOURNAL + 4096;
/** Cells of the live page. */
export const CELL = { committed: 0, owner: 64, supersededBy: 128, mustDrop: 192 } as const;

/** Bytes of fields, each a text or a number with its size in bytes. */
function pack(...fields: (string | Buffer | [number | bigint, 1 | 2 | 4 | 8])[]): Buffer {
  return Buffer.concat(
    fields.map((field) => {
      if (!Array.isArray(field)) return Buffer.from(field);
      const cell = Buffer.alloc(8);
      cell.writeBigUInt64LE(BigInt(field[0]));
      return cell.subarray(0, field[1]);
    }),
  );
}

function padded(bytes: Buffer, to: number): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(to - bytes.length)]);
}

/** The bytes of a file whose events have these texts. */
export function brain(texts: string[], generation = 1, instance = 'i'.repeat(16)): Buffer {
  const lineage = 'l'.repeat(16);
  const tables: [number, 8][] = [64, 64, 64, 64].map((at) => [at, 8]);
  const header = pack('AMEM', [1, 4], [0, 4], [0, 4], [0, 8], [0, 8], ...tables);
  const identity = pack([0x41, 1], [56, 8], lineage, instance, [generation, 8], [0, 8], [0, 8]);
  const before = header.length + identity.length + 9;
  const base = Buffer.concat([header, identity, pack([0x40, 1], [JOURNAL - before, 8])]);
  const front = pack([0x7f, 1], [1n << 62n, 8], Buffer.alloc(7), 'AMEMJRNL', lineage, instance);
  const head = Buffer.concat([front, pack([generation, 8], [0, 8], [0, 8], [5, 8])]);
  const parts = [padded(base, JOURNAL), padded(Buffer.concat([head, pack([xxh3(head), 8])]), 4096), Buffer.alloc(4096)];
  let checksum = xxh3(pack(instance, [generation, 8], [5, 8]));
  texts.forEach((text, id) => {
    const [when, one] = [id + 1, 0x3f800000];
    const event = pack([1, 1], [id, 8], [0, 1], [0, 1], [0, 4], [when, 8], [one, 4], [0, 4]);
    const payload = Buffer.concat([event, pack([text.length, 4], text)]);
    const frame = pack([payload.length, 4], [1, 1], [0, 1], [0, 2], [when, 8], [when, 8], [0, 4], [0, 4]);
    checksum = xxh3(Buffer.concat([frame, payload]), checksum);
    const whole = Buffer.concat([frame, pack([checksum, 8]), payload]);
    parts.push(padded(whole, Math.ceil(whole.length / 8) * 8));
  });
  return Buffer.concat(parts);
}

/** Sets cells of a file's live page. */
export function tell(path: string, cell: number, ...values: (number | bigint)[]): void {
  const bytes = pack(...values.map((value): [number | bigint, 8] => [value, 8]));
  const fd = fs.openSync(path, 'r+');
  fs.writeSync(fd, bytes, 0, bytes.length, LIVE + cell);
  fs.closeSync(fd);
}

/** Writes a file as a running daemon's, all of it committed; into the existing inode, if any. */
export function own(path: string, data: Buffer): void {
  fs.writeFileSync(path, data, { flag: fs.existsSync(path) ? 'r+' : 'wx' });
  const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '');
  const { dev, ino } = fs.statSync(path, { bigint: true });
  tell(path, CELL.owner, BigInt(`0x${boot.slice(0, 16)}`), BigInt(`0x${boot.slice(16)}`), dev, ino);
  tell(path, CELL.committed, data.length);
}

/** Gives the name to a new file, as a checkpoint does. */
export function publish(path: string, data: Buffer): void {
  own(`${path}.new`, data);
  fs.renameSync(`${path}.new`, path);
}

/** True if this process has the file open. */
export function isHeld(inode: number): boolean {
  return fs
    .readdirSync('/proc/self/fd')
    .some((number) => fs.statSync(`/proc/self/fd/${number}`, { throwIfNoEntry: false })?.ino === inode);
}
