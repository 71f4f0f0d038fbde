// The journal: the head page, the live page, and the frames behind them as whole transactions.
//
// Promises: a frame counts only if its chained checksum is right and its LSN follows the previous one; a transaction
// counts only whole. Not here: what a transaction does (`graph`).

import { DamagedFile, NewerFile } from '../errors';
import { JOURNAL_LENGTH, PAGE, type Identity } from './base';
import { FRAME_BYTES_MAX, Span, TRANSACTION_BYTES_MAX, asNumber, type File } from './file';
import { xxh3 } from './xxh3';

const FRAME_HEADER = 40;
const KINDS = 19;
/** The top bit of the cell `committed`. */
const LOOK = 1n << 63n;

/** A position in the journal, with the state to continue from it. */
export interface Position {
  at: number;
  lsn: bigint;
  checksum: bigint;
}

/** The frames of one commit. */
export interface Transaction {
  lsn: bigint;
  time: bigint;
  actor: number;
  /** Positions of the payloads in the file: a transaction may be too large for memory. */
  frames: { position: number; size: number }[];
  after: Position;
}

/** The cells of the live page. */
export interface Live {
  committed: number;
  look: boolean;
  owner: readonly bigint[];
  supersededBy: bigint;
  mustDrop: boolean;
}

/** Checks the head page; returns the position of the first frame. */
export function start(file: File, at: number, identity: Identity): Position {
  if (at + 2 * PAGE > file.size) throw new DamagedFile('journal', at, 'its head page or live page is cut off');
  const span = new Span(file, 'journal head', at, PAGE);
  const head = span.slice(0, 96);
  const isHead = head.readUInt8(0) === 0x7f && head.readBigUInt64LE(1) === JOURNAL_LENGTH;
  if (!isHead || head.toString('latin1', 16, 24) !== 'AMEMJRNL') throw span.bad(0, 'its tag, length or magic is wrong');
  if (head.readBigUInt64LE(88) !== xxh3(head.subarray(0, 88))) throw span.bad(88, 'its checksum is wrong');
  const isOurs =
    head.subarray(24, 40).equals(identity.lineage) &&
    head.subarray(40, 56).equals(identity.instance) &&
    head.readBigUInt64LE(56) === identity.generation &&
    head.readBigUInt64LE(64) === identity.lsn;
  if (!isOurs) throw span.bad(24, 'it belongs to another base');
  const seed = xxh3(Buffer.concat([head.subarray(40, 64), head.subarray(80, 88)]));
  return { at: at + 2 * PAGE, lsn: identity.lsn, checksum: seed };
}

/** Reads the live page of the journal at a position. The kernel copies each aligned cell at once. */
export function live(file: File, at: number): Live {
  const page = file.read('live page', at + PAGE, 200);
  const cell = (offset: number): bigint => page.readBigUInt64LE(offset);
  return {
    committed: asNumber(cell(0) & ~LOOK),
    look: (cell(0) & LOOK) !== 0n,
    owner: [64, 72, 80, 88].map(cell),
    supersededBy: cell(128),
    mustDrop: cell(192) !== 0n,
  };
}

/** The transaction at a position, or none and, unless zeros follow, the reason (`torn`). */
export function following(
  file: File,
  position: Position,
  until: number,
  bytesMax: number = TRANSACTION_BYTES_MAX,
): { transaction?: Transaction; torn?: string } {
  const frames: Transaction['frames'] = [];
  let [at, total] = [position, 0];
  let shared: Buffer | undefined;
  const end = (torn?: string): { torn?: string } => {
    const why = torn ?? (frames.length > 0 ? 'a transaction is incomplete' : undefined);
    return why === undefined ? {} : { torn: why };
  };
  for (;;) {
    const front = file.read('frame', at.at, Math.max(0, Math.min(FRAME_HEADER, until - at.at)));
    if (front.every((byte) => byte === 0)) return end();
    if (front.length < FRAME_HEADER) return end("a frame's header is cut short");
    const size = front.readUInt32LE(0);
    const next = at.at + Math.ceil((FRAME_HEADER + size) / 8) * 8;
    if (FRAME_HEADER + size > FRAME_BYTES_MAX || next > until) return end(`a frame claims ${size} bytes of payload`);
    const rest = file.read('frame', at.at + FRAME_HEADER, next - at.at - FRAME_HEADER);
    const payload = rest.subarray(0, size);
    const checksum = front.readBigUInt64LE(32);
    if (checksum !== xxh3(Buffer.concat([front.subarray(0, 32), payload]), at.checksum)) {
      return end("a frame's checksum does not hold");
    }
    const [kind, more, lsn] = [front.readUInt8(4), front.readUInt8(5), front.readBigUInt64LE(8)];
    if (lsn !== at.lsn + 1n) return end(`a frame has LSN ${lsn}, ${at.lsn + 1n} should follow`);
    // No checksum covers the padding.
    if (rest.subarray(size).some((byte) => byte !== 0)) return end('the padding of a frame is not zero');
    const zeros = [front.subarray(6, 8), front.subarray(28, 32)];
    if (kind < 1 || kind > KINDS || more > 1 || zeros.some((part) => part.some((byte) => byte !== 0))) {
      const what = `a frame of kind ${kind}, more ${more} or with reserved bytes that are not zero`;
      throw new NewerFile('journal', at.at, what);
    }
    // Headers count: memory holds an entry for each frame, even an empty one.
    total += next - at.at;
    if (total > bytesMax) throw new DamagedFile('transaction', at.at, 'longer than the limit');
    if (more === 1 && size === 0) {
      throw new DamagedFile('transaction', at.at, 'it continues after an empty frame');
    }
    // Kind, time and actor.
    const own = Buffer.concat([front.subarray(4, 5), front.subarray(16, 28)]);
    if (shared && !shared.equals(own)) throw new DamagedFile('transaction', at.at, 'its frames disagree');
    shared = own;
    frames.push({ position: at.at + FRAME_HEADER, size });
    at = { at: next, lsn, checksum };
    if (more === 0) {
      const [time, actor] = [front.readBigInt64LE(16), front.readUInt32LE(24)];
      return { transaction: { lsn, time, actor, frames, after: at } };
    }
  }
}
