// LZ4 blocks, from their public specification (doc/lz4_Block_format.md of the LZ4 project).
//
// Promises: the claimed size is checked against the bound and the compressed bytes before any allocation, and the
// output never exceeds it.

/** Maximum of decompressed bytes for one compressed byte. */
const EXPANSION_MAX = 255;
/** Added to the encoded length of a match. */
const MATCH_MIN = 4;

/** Not an LZ4 block, or not of the claimed size. */
export class BadBlock extends Error {}

/** The `size` bytes of a block. */
export function decompress(packed: Buffer, size: number, sizeMax: number): Buffer {
  if (size > sizeMax || size > packed.length * EXPANSION_MAX) {
    throw new BadBlock(`${packed.length} compressed bytes claim to be ${size}`);
  }
  const out = Buffer.alloc(size);
  let [at, made] = [0, 0];
  /** A length that begins with four bits. */
  const length = (nibble: number): number => {
    let total = nibble;
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; total += byte) {
      if (at >= packed.length) throw new BadBlock('a length is cut short');
      byte = packed[at++] as number;
    }
    return total;
  };
  while (at < packed.length) {
    const token = packed[at++] as number;
    const literals = length(token >> 4);
    if (at + literals > packed.length || made + literals > size) throw new BadBlock('literals reach past the end');
    packed.copy(out, made, at, at + literals);
    [at, made] = [at + literals, made + literals];
    // The last sequence has no match.
    if (at === packed.length) break;
    if (at + 2 > packed.length) throw new BadBlock('an offset is cut short');
    const distance = packed.readUInt16LE(at);
    at += 2;
    const matched = length(token & 15) + MATCH_MIN;
    if (distance === 0 || distance > made) throw new BadBlock('a match reaches before the text');
    if (made + matched > size) throw new BadBlock('a match reaches past the end');
    // The match may overlap its own output: a repeating pattern.
    for (const end = made + matched; made < end; made += 1) out[made] = out[made - distance] as number;
  }
  if (made !== size) throw new BadBlock(`${made} bytes claim to be ${size}`);
  return out;
}
