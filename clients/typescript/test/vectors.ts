// Hashes of the test vectors of the xxHash project: bytes of its generator, how many, the seed, XXH3-64.

export const VECTORS: readonly (readonly [number, bigint, bigint])[] = [
  [0, 0n, 0x2d06800538d394c2n],
  [0, 0x9e3779b185ebca8dn, 0xa8a6b918b2f0364an],
  [1, 0n, 0xc44bdff4074eecdbn],
  [1, 0x9e3779b185ebca8dn, 0x032be332dd766ef8n],
  [6, 0n, 0x27b56a84cd2d7325n],
  [6, 0x9e3779b185ebca8dn, 0x84589c116ab59ab9n],
  [12, 0n, 0xa713daf0dfbb77e7n],
  [12, 0x9e3779b185ebca8dn, 0xe7303e1b2336de0en],
  [24, 0n, 0xa3fe70bf9d3510ebn],
  [24, 0x9e3779b185ebca8dn, 0x850e80fc35bdd690n],
  [48, 0n, 0x397da259ecba1f11n],
  [48, 0x9e3779b185ebca8dn, 0xadc2cbaa44acc616n],
  [80, 0n, 0xbcdefbbb2c47c90an],
  [80, 0x9e3779b185ebca8dn, 0xc6dd0cb699532e73n],
  [195, 0n, 0xcd94217ee362ec3an],
  [195, 0x9e3779b185ebca8dn, 0xba68003d370cb3d9n],
  [403, 0n, 0xcdeb804d65c6dea4n],
  [403, 0x9e3779b185ebca8dn, 0x6259f6ecfd6443fdn],
  [512, 0n, 0x617e49599013cb6bn],
  [512, 0x9e3779b185ebca8dn, 0x3ce457de14c27708n],
  [2048, 0n, 0xdd59e2c3a5f038e0n],
  [2048, 0x9e3779b185ebca8dn, 0x66f81670669ababcn],
  [2240, 0n, 0x6e73a90539cf2948n],
  [2240, 0x9e3779b185ebca8dn, 0x757ba8487d1b5247n],
];

/** The generator's bytes. */
export function generated(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let state = 0x9e3779b1n;
  for (let at = 0; at < size; at += 1) {
    bytes[at] = Number(state >> 56n);
    state = BigInt.asUintN(64, state * 0x9e3779b185ebca8dn);
  }
  return bytes;
}
