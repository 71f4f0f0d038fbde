// From an event to what is believed now: the rules of the daemon's Resolve.
//
// Supersedes edges lead from a replacement to what it replaces. They are followed upward through all replacements,
// forgotten ones as well. A head is a replacement that is shown and has none that is shown above it; the newest one is
// the answer.

interface Met {
  id: number;
  isShown: boolean;
  isReplaced: boolean;
  /** What it was found from. */
  parent: Met | undefined;
  /** What it replaces. */
  below: Met[];
}

/** Heads, the newest first, and the chain from the event to the first of them; undefined if all of it is hidden. */
export function resolve(
  event: number,
  replacements: (id: number) => number[],
  isShown: (id: number) => boolean,
): { heads: number[]; chain: number[] } | undefined {
  const places = new Map<number, Met>();
  const meet = (id: number, parent?: Met): Met => {
    const known = places.get(id);
    if (known) return known;
    const met = { id, isShown: isShown(id), isReplaced: false, parent, below: [] };
    places.set(id, met);
    return met;
  };
  meet(event);
  // What is met on the way is walked as well: a map goes on with what is added to it.
  for (const met of places.values()) {
    for (const other of replacements(met.id).sort((a, b) => a - b)) meet(other, met).below.push(met);
  }
  const all = [...places.values()];
  const shown = all.filter((met) => met.isShown);
  // Downward from whatever is shown: all that is met there is replaced.
  const todo = [...shown];
  for (let met = todo.pop(); met; met = todo.pop()) {
    for (const lower of met.below) {
      if (!lower.isReplaced && !lower.isShown) todo.push(lower);
      lower.isReplaced = true;
    }
  }
  let heads = shown.filter((met) => !met.isReplaced).sort((a, b) => b.id - a.id);
  // Else every way up ends in a circle, which only an import can bring.
  if (heads.length === 0) heads = shown.sort((a, b) => b.id - a.id).slice(0, 1);
  const chain: number[] = [];
  for (let met = heads[0]; met; met = met.parent) chain.unshift(met.id);
  return heads.length > 0 ? { heads: heads.map((met) => met.id), chain } : undefined;
}
