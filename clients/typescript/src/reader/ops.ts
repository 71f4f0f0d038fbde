// The operations of a payload, decoded and checked (docs/FORMAT.md, "Operations").
//
// An unknown operation is damage: the next one cannot be found, and its effect would be missing.

import { NewerFile } from '../errors';
import { parseObject } from '../json';
import * as limits from './file';
import { Cursor } from './file';

/** The attribute with the origin of a merged event. */
export const ORIGIN = 'amem.origin';

/** A range of bytes in the file. */
export interface ByteRange {
  at: number;
  size: number;
}

/** A new event. */
export interface NewEvent {
  op: 'event';
  id: number;
  type: number;
  session: number;
  created: bigint;
  confidence: number;
  decayRate: number;
  text: ByteRange;
  eventTime: bigint | null;
  attributes: ByteRange | null;
  vector: ByteRange | null;
  carried: { flags: number; accessCount: number; accessed: bigint; decayScore: number } | null;
}

export type Op =
  | NewEvent
  | { op: 'link'; source: number; target: number; type: number; weight: number; created: bigint }
  | { op: 'unlink'; source: number; target: number; type: number }
  | { op: 'belief'; id: number; confidence: number; flags: number; decayRate: number }
  | { op: 'attributes'; id: number; json: ByteRange | null }
  | { op: 'vector'; id: number; vector: ByteRange | null }
  | { op: 'touch'; when: bigint; uses: { id: number; times: number }[] }
  | { op: 'decay'; when: bigint; rates: number[] }
  | { op: 'open-session'; session: number; when: bigint; key: string; agent: string }
  | { op: 'close-session'; session: number; when: bigint; outcome: string }
  | { op: 'settings'; json: string }
  | { op: 'actor'; actor: number; principal: string; agent: string }
  // The actor that recorded the events that follow.
  | { op: 'author'; actor: number }
  // A reader does not show these: a request; when a value was changed in another brain.
  | { op: 'request' }
  | { op: 'stamp' }
  | { op: 'erase'; id: number };

function text(c: Cursor, sizeMax: number): ByteRange {
  const before = c.position + 4;
  c.text(sizeMax);
  return { at: before, size: c.position - before };
}

function vector(c: Cursor): ByteRange {
  const size = c.u32();
  if (size % 4 !== 0 || size > 4 * limits.DIMENSION_MAX) throw c.bad(`a vector of ${size} bytes`);
  c.align(4);
  const at = c.position;
  c.take(size);
  return { at, size };
}

const some = (place: ByteRange): ByteRange | null => (place.size > 0 ? place : null);

function event(c: Cursor): Op {
  const [id, type, has, session, created] = [c.id(), c.u8(), c.u8(), c.u32(), c.i64()];
  if (has > 15) throw c.bad(`an event with unknown fields ${has}`);
  const [confidence, decayRate] = [c.unit(), c.rate()];
  return {
    op: 'event',
    id,
    type,
    session,
    created,
    confidence,
    decayRate,
    text: text(c, limits.TEXT_BYTES_MAX),
    eventTime: (has & 1) !== 0 ? c.i64() : null,
    attributes: (has & 2) !== 0 ? some(text(c, limits.ATTRIBUTES_BYTES_MAX + limits.ORIGIN_BYTES_MAX)) : null,
    vector: (has & 4) !== 0 ? some(vector(c)) : null,
    carried: (has & 8) !== 0 ? { flags: c.u8(), accessCount: c.u32(), accessed: c.i64(), decayScore: c.f32() } : null,
  };
}

function touch(c: Cursor): Op {
  const [when, packed] = [c.i64(), c.blob(limits.FRAME_BYTES_MAX)];
  if (packed.length % 12 !== 0) throw c.bad('the entries of a touch are incomplete');
  const entries = new Cursor(packed, 'touch', c.position - packed.length);
  const uses = Array.from({ length: packed.length / 12 }, () => ({ id: entries.id(), times: entries.u32() }));
  return { op: 'touch', when, uses };
}

/** An event and fields, an edge or a session, and a time. */
function stamp(c: Cursor, size: number): Op {
  c.take(size);
  return { op: 'stamp' };
}

/** Operations from this code on have their length behind the code, and may be skipped. */
const SKIPPED_CODES = 0x80;

/** Fields are decoded in the order of evaluation. */
const DECODERS: Record<number, (c: Cursor) => Op> = {
  1: event,
  2: (c) => ({ op: 'link', source: c.id(), target: c.id(), type: c.u8(), weight: c.unit(), created: c.i64() }),
  3: (c) => ({ op: 'unlink', source: c.id(), target: c.id(), type: c.u8() }),
  4: (c) => ({ op: 'belief', id: c.id(), confidence: c.unit(), flags: c.u8(), decayRate: c.rate() }),
  5: (c) => ({ op: 'attributes', id: c.id(), json: some(text(c, limits.ATTRIBUTES_BYTES_MAX + limits.ORIGIN_BYTES_MAX)) }),
  6: (c) => ({ op: 'vector', id: c.id(), vector: some(vector(c)) }),
  7: touch,
  8: (c) => ({ op: 'decay', when: c.i64(), rates: Array.from({ length: 6 }, () => c.rate()) }),
  9: (c) => ({
    op: 'open-session',
    session: c.u32(),
    when: c.i64(),
    key: c.text(limits.NAME_BYTES_MAX),
    agent: c.text(limits.NAME_BYTES_MAX),
  }),
  10: (c) => ({ op: 'close-session', session: c.u32(), when: c.i64(), outcome: c.text(limits.OUTCOME_BYTES_MAX) }),
  11: (c) => ({ op: 'settings', json: c.text(limits.SETTINGS_BYTES_MAX) }),
  12: (c) => ({
    op: 'actor',
    actor: c.u32(),
    principal: c.text(limits.NAME_BYTES_MAX),
    agent: c.text(limits.NAME_BYTES_MAX),
  }),
  13: (c) => {
    c.take(32);
    c.blob(limits.ANSWER_BYTES_MAX);
    return { op: 'request' };
  },
  14: (c) => ({ op: 'erase', id: c.id() }),
  15: (c) => ({ op: 'author', actor: c.u32() }),
  16: (c) => stamp(c, 17),
  17: (c) => stamp(c, 25),
  18: (c) => stamp(c, 12),
};

/** True if attributes have the origin of a merge and nothing else, as those of an erased event may. */
export function isOnlyOrigin(json: Buffer): boolean {
  try {
    return Object.keys(parseObject(json.toString())).join() === ORIGIN;
  } catch {
    return false;
  }
}

/** The operations of a payload at a position in the file. */
export function* operations(payload: Buffer, position: number): Generator<Op> {
  const c = new Cursor(payload, 'operation', position);
  while (!c.isEmpty) {
    const code = c.u8();
    const decode = DECODERS[code];
    if (decode) yield decode(c);
    else if (code < SKIPPED_CODES) throw new NewerFile('operation', c.position, `operation ${code}`);
    else c.take(c.u32());
  }
}
