// From an event to its head: the rules of the daemon's Resolve.
//
// Supersedes edges lead from a replacement to its target. They are followed upward through all replacements, including
// forgotten ones. A head is a visible replacement without a visible one above it; the newest head is the answer.

interface Candidate {
  id: number;
  isShown: boolean;
  isReplaced: boolean;
  /** The event from which it was reached. */
  parent: Candidate | undefined;
  /** The events that it replaces. */
  below: Candidate[];
}

/** Heads, the newest first, and the chain from the event to the first; undefined if all events are hidden. */
export function resolve(
  event: number,
  replacements: (id: number) => number[],
  isShown: (id: number) => boolean,
): { heads: number[]; chain: number[] } | undefined {
  const places = new Map<number, Candidate>();
  const meet = (id: number, parent?: Candidate): Candidate => {
    const known = places.get(id);
    if (known) return known;
    const met = { id, isShown: isShown(id), isReplaced: false, parent, below: [] };
    places.set(id, met);
    return met;
  };
  meet(event);
  // A map's iteration includes the entries that are added during it.
  for (const met of places.values()) {
    for (const other of replacements(met.id).sort((a, b) => a - b)) meet(other, met).below.push(met);
  }
  const all = [...places.values()];
  const shown = all.filter((met) => met.isShown);
  // Every event below a visible one is replaced.
  const todo = [...shown];
  for (let met = todo.pop(); met; met = todo.pop()) {
    for (const lower of met.below) {
      if (!lower.isReplaced && !lower.isShown) todo.push(lower);
      lower.isReplaced = true;
    }
  }
  let heads = shown.filter((met) => !met.isReplaced).sort((a, b) => b.id - a.id);
  // Otherwise every path up ends in a cycle, which only an import can create.
  if (heads.length === 0) heads = shown.sort((a, b) => b.id - a.id).slice(0, 1);
  const chain: number[] = [];
  for (let met = heads[0]; met; met = met.parent) chain.unshift(met.id);
  return heads.length > 0 ? { heads: heads.map((met) => met.id), chain } : undefined;
}
