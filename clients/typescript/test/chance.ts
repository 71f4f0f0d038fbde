// Random numbers from a seed (xorshift32).

/** Draws whole numbers below a bound. */
export function chance(seed: number): (bound: number) => number {
  let state = (seed * 2654435761 + 1) >>> 0 || 1;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % bound;
  };
}
