// Checked access to the bytes of a file, read on demand, and the limits of docs/FORMAT.md.
//
// Node maps no files. The base never changes, so its blocks are cached; what follows it is read again each time,
// because a writer adds to it. Promises: an access outside of the file throws DamagedFile with its position; at most BLOCKS_MAX
// blocks are cached.

import * as fs from 'node:fs';

import { AmemError, DamagedFile } from '../errors';

export const NODES_MAX = 4294967294;
export const EDGES_MAX = 4294967294;
export const TEXT_BYTES_MAX = 1048576;
export const ATTRIBUTES_BYTES_MAX = 65536;
export const ORIGIN_BYTES_MAX = 2048;
export const DIMENSION_MAX = 4096;
export const FRAME_BYTES_MAX = 16777216;
export const TRANSACTION_BYTES_MAX = 2147483648;
export const NAME_BYTES_MAX = 256;
export const OUTCOME_BYTES_MAX = 4096;
export const SETTINGS_BYTES_MAX = 65536;
export const ANSWER_BYTES_MAX = 1048576;
export const SECTIONS_MAX = 256;

const BLOCK = 65536;
const BLOCKS_MAX = 256;

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes the bytes at a position in the file as text. */
export function utf8(bytes: Uint8Array, part: string, position: number): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw new DamagedFile(part, position, 'it is not UTF-8');
  }
}

/**
 * A 64-bit number as a size, a count or an id; infinite if a number cannot hold it, so that every bound rejects it.
 */
export function asNumber(value: bigint): number {
  return value > 9007199254740991n ? Number.POSITIVE_INFINITY : Number(value);
}

/** An open file. */
export class File {
  /** Device and inode. */
  readonly id: { device: bigint; inode: bigint };
  private readonly blocks = new Map<number, Buffer>();
  /** Bytes before this position never change. */
  private fixed = 0;
  private known: number;
  /** Undefined once closed: the number may then belong to another file. */
  private descriptor: number | undefined;

  constructor(path: string) {
    this.descriptor = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const about = fs.fstatSync(this.fd, { bigint: true });
    this.id = { device: about.dev, inode: about.ino };
    this.known = Number(about.size);
    if (!about.isFile()) {
      this.close();
      throw new DamagedFile('file', 0, `${path} is no regular file`);
    }
  }

  get isOpen(): boolean {
    return this.descriptor !== undefined;
  }

  private get fd(): number {
    if (this.descriptor === undefined) throw new AmemError('the file is closed');
    return this.descriptor;
  }

  /** The size of the file in bytes, as of the last check. */
  get size(): number {
    return this.known;
  }

  /** Checks the size again. */
  look(): number {
    this.known = fs.fstatSync(this.fd).size;
    return this.known;
  }

  /** Allows caching of the bytes before a position. */
  fix(end: number): void {
    this.fixed = end;
  }

  close(): void {
    this.blocks.clear();
    const { descriptor } = this;
    this.descriptor = undefined;
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }

  /** Bytes of a part of the file. */
  read(part: string, at: number, size: number): Buffer {
    if (!(at >= 0 && size >= 0 && at + size <= this.known)) {
      throw new DamagedFile(part, at, `${size} bytes reach past the file's ${this.known}`);
    }
    const block = Math.floor(at / BLOCK);
    if (at + size > Math.min((block + 1) * BLOCK, this.fixed)) return this.pread(part, at, size);
    return this.block(part, block).subarray(at % BLOCK, (at % BLOCK) + size);
  }

  private block(part: string, number: number): Buffer {
    let block = this.blocks.get(number);
    if (block) {
      // Least recently used blocks are evicted first.
      this.blocks.delete(number);
    } else {
      const at = number * BLOCK;
      block = this.pread(part, at, Math.min(BLOCK, this.fixed - at));
      const [oldest] = this.blocks.keys();
      if (this.blocks.size >= BLOCKS_MAX && oldest !== undefined) this.blocks.delete(oldest);
    }
    this.blocks.set(number, block);
    return block;
  }

  private pread(part: string, at: number, size: number): Buffer {
    const bytes = Buffer.allocUnsafe(size);
    for (let done = 0; done < size;) {
      const count = fs.readSync(this.fd, bytes, done, size - done, at + done);
      if (count === 0) throw new DamagedFile(part, at + done, 'the file was truncated during a read');
      done += count;
    }
    return bytes;
  }
}

/** A range of a file that is one part of it; positions in it count from its first byte. */
export class Span {
  constructor(
    private readonly file: File,
    readonly part: string,
    readonly start: number,
    readonly size: number,
  ) {
    if (!(start >= 0 && size >= 0 && start + size <= file.size)) {
      throw new DamagedFile(part, start, `${size} bytes reach past the file's ${file.size}`);
    }
  }

  bad(at: number, why: string): DamagedFile {
    return new DamagedFile(this.part, this.start + at, why);
  }

  slice(at: number, size: number): Buffer {
    if (!(at >= 0 && size >= 0 && at + size <= this.size))
      throw this.bad(at, `${size} bytes reach past its ${this.size}`);
    return this.file.read(this.part, this.start + at, size);
  }

  u32(at: number): number {
    return this.slice(at, 4).readUInt32LE(0);
  }

  /** As a size or a count. */
  u64(at: number): number {
    return asNumber(this.slice(at, 8).readBigUInt64LE(0));
  }

  i64(at: number): bigint {
    return this.slice(at, 8).readBigInt64LE(0);
  }

  text(at: number, size: number): string {
    return utf8(this.slice(at, size), this.part, this.start + at);
  }
}

/** An array of unsigned numbers of `bytes` bytes, read in place. */
export class Numbers {
  constructor(
    readonly span: Span,
    private readonly at: number,
    readonly length: number,
    private readonly bytes: 1 | 4 | 8,
  ) {
    if (!(at + bytes * length <= span.size)) throw span.bad(at, `${length} numbers reach past its ${span.size} bytes`);
  }

  get(index: number): number {
    if (!(index >= 0 && index < this.length))
      throw this.span.bad(this.at, `index ${index} of ${this.length}`);
    const bytes = this.span.slice(this.at + this.bytes * index, this.bytes);
    return this.bytes === 8 ? asNumber(bytes.readBigUInt64LE(0)) : bytes.readUIntLE(0, this.bytes);
  }

  /** The first index in ascending numbers whose number is at least the wanted one. */
  find(wanted: number, start = 0, end = this.length): number {
    let [low, high] = [start, end];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.get(middle) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Decodes consecutive fields. */
export class Cursor {
  private at = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly part: string,
    private readonly start: number,
  ) {}

  /** The position of the next field in the file. */
  get position(): number {
    return this.start + this.at;
  }

  get isEmpty(): boolean {
    return this.at === this.bytes.length;
  }

  bad(why: string): DamagedFile {
    return new DamagedFile(this.part, this.position, why);
  }

  take(size: number): Buffer {
    const end = this.at + size;
    if (end > this.bytes.length)
      throw this.bad(`a field of ${size} bytes, ${this.bytes.length - this.at} are left`);
    const taken = this.bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }

  u8(): number {
    return this.take(1).readUInt8(0);
  }

  u32(): number {
    return this.take(4).readUInt32LE(0);
  }

  /** An id; a value that a number cannot hold is invalid. */
  id(): number {
    return asNumber(this.take(8).readBigUInt64LE(0));
  }

  i64(): bigint {
    return this.take(8).readBigInt64LE(0);
  }

  f32(): number {
    const value = this.take(4).readFloatLE(0);
    if (!Number.isFinite(value)) throw this.bad('a number that is not finite');
    return value;
  }

  unit(): number {
    const value = this.f32();
    if (value < 0 || value > 1) throw this.bad(`${value} is not within 0 to 1`);
    return value;
  }

  rate(): number {
    const value = this.f32();
    if (value < 0) throw this.bad(`${value} is not a rate`);
    return value;
  }

  blob(sizeMax: number): Buffer {
    const size = this.u32();
    if (size > sizeMax) throw this.bad(`${size} bytes, at most ${sizeMax} are allowed`);
    return this.take(size);
  }

  text(sizeMax: number): string {
    const at = this.position + 4;
    return utf8(this.blob(sizeMax), this.part, at);
  }

  align(to: number): void {
    this.take((to - (this.at % to)) % to);
  }
}
