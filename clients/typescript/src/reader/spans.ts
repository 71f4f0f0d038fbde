// The spans of sessions: those of the base, those of the journal, and what was recorded in each.

import type { Session } from '../types';
import { EPISODE, FLAG, type SessionRecord } from './base';
import type { Graph } from './graph';

const PART_OF = 5;
/** Spans of a session in a list of sessions: the newest ones. */
export const SPANS_LISTED = 100;
/** Spans of a session that is shown by itself: the newest ones. */
export const SPANS_SHOWN = 10_000;

/** The visible episodes by session, ascending. */
export function episodes(graph: Graph): Map<number, number[]> {
  const found = new Map<number, number[]>();
  const add = (session: number, id: number): void => {
    if ((graph.state(id).flags & FLAG.forgotten) !== 0) return;
    found.set(session, [...(found.get(session) ?? []), id]);
  };
  for (const id of graph.base.episodes()) add(graph.base.record(id).session, id);
  for (const event of graph.events) if (event.type === EPISODE) add(event.session, event.id);
  return found;
}

/** The first index that is past what `isBefore` holds for. */
function partition(length: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** At most `most` spans of a session; `known` are its episodes. */
export function spans(
  graph: Graph,
  latest: SessionRecord,
  known: number[],
  most: number,
): Pick<Session, 'spans' | 'spanCount'> {
  const times = graph.sessions.get(latest.id);
  const ids = [...graph.base.sessionMembers(latest.id), ...(times?.events ?? [])];
  const id = (index: number): number => ids[index] as number;
  const recorded = (id: number): bigint =>
    id < graph.base.nodes ? graph.base.record(id).created : graph.event(id).created;
  const earlier = [...graph.base.spans(latest.id), ...(times?.earlier ?? [])];
  const all = [
    ...earlier.map((span) => ({ openedMicros: span.opened, closedMicros: span.closed, outcome: span.outcome })),
    { openedMicros: latest.openedMicros, closedMicros: latest.closedMicros, outcome: latest.outcome },
  ];
  // An event belongs to the last span that began no later; what is before all of them, to the first.
  const starts = all.map(({ openedMicros }, at) =>
    at === 0 ? 0 : partition(ids.length, (index) => recorded(id(index)) < openedMicros),
  );
  const covered = all.map((): number[] => []);
  const members = new Set(known.length > 0 ? ids : []);
  for (const episode of known) {
    for (const { other, type } of graph.ties(episode, 'incoming')) {
      if (type !== PART_OF || !members.has(other)) continue;
      const at = partition(ids.length, (index) => id(index) < other);
      const into = covered[partition(starts.length, (span) => (starts[span] as number) <= at) - 1];
      if (into && into.at(-1) !== episode) into.push(episode);
    }
  }
  const found = all.map((span, at) => ({
    ...span,
    eventCount: (starts[at + 1] ?? ids.length) - (starts[at] as number),
    episodeIds: covered[at] as number[],
  }));
  return { spans: found.slice(-most), spanCount: found.length };
}
