// Queries of a brain. Each is answered from one view; with `asOf`, that of an earlier LSN or time.

import * as convert from './convert';
import { given } from './convert';
import type {
  Axis,
  Conflict,
  Context,
  EdgeType,
  Event,
  Follow,
  Hit,
  Moment,
  Order,
  Resolved,
  Rows,
  Session,
  Source,
  Stage,
  Step,
  TimelineEntry,
  Walk,
  Where,
} from './types';
import type { Message, Reply } from './wire';
import { Writing } from './writing';

type Vector = ArrayLike<number>;
/** Limits of a walk along edges; 0 is the daemon's default. */
type Reach = { depth?: number; limit?: number; asOf?: Moment; includeForgotten?: boolean };
type Listing = { limit?: number | null; asOf?: Moment };
type Seen = { asOf?: Moment; includeForgotten?: boolean; edges?: boolean; vectors?: boolean; touch?: boolean };

/** The queries of a brain. */
export class Asking extends Writing {
  /** An event by its id. `touch` counts it as used; default: yes. */
  async get(event: number, how: Seen = {}): Promise<Event> {
    return (await this.getMany([event], how))[0] as Event;
  }

  /** Events by their ids, in that order; NotFound if one does not exist. */
  async getMany(
    events: readonly number[],
    { asOf, includeForgotten, edges = false, vectors, touch }: Seen = {},
  ): Promise<Event[]> {
    const answer = await this.ask('GetEvents', {
      event_ids: events,
      as_of: convert.asOf(asOf),
      include_forgotten: includeForgotten,
      include_edges: edges,
      include_vectors: vectors,
      touch,
    });
    return answer.events.map((one: Reply) => convert.event(one, edges));
  }

  /** The best answers to a question, by words, vectors and the graph together. */
  async search(
    text: string,
    how: {
      vector?: Vector;
      where?: Where;
      limit?: number;
      asOf?: Moment;
      includeSuperseded?: boolean;
      textWeight?: number;
      vectorWeight?: number;
      neighbourShare?: number;
      sessionShare?: number;
      questionShare?: number;
      speakerBoost?: number;
      timeBoost?: number;
      recencyHalfLifeDays?: number;
      tieMargin?: number;
      /** Leaves out what does not answer the question: see `Hit`. */
      minRelevance?: number;
      includeDuplicates?: boolean;
      centreVector?: boolean;
    } = {},
  ): Promise<Hit[]> {
    const answer = await this.ask('Search', {
      text,
      vector: convert.vector(how.vector),
      selection: convert.selection(how.where),
      limit: how.limit ?? 10,
      as_of: convert.asOf(how.asOf),
      include_superseded: how.includeSuperseded,
      text_weight: how.textWeight,
      vector_weight: how.vectorWeight,
      neighbour_share: how.neighbourShare,
      session_share: how.sessionShare,
      question_share: how.questionShare,
      speaker_boost: how.speakerBoost,
      time_boost: how.timeBoost,
      recency_half_life_days: how.recencyHalfLifeDays,
      tie_margin: how.tieMargin,
      min_relevance: how.minRelevance,
      include_duplicates: how.includeDuplicates,
      centre_vector: how.centreVector,
    });
    return answer.hits.map(convert.searchHit);
  }

  /** The best answers to a question, by words alone. */
  async text(
    text: string,
    how: { where?: Where; limit?: number; asOf?: Moment; minRelevance?: number } = {},
  ): Promise<Hit[]> {
    const answer = await this.ask('Text', {
      text,
      selection: convert.selection(how.where),
      limit: how.limit ?? 10,
      as_of: convert.asOf(how.asOf),
      min_relevance: how.minRelevance,
    });
    return answer.hits.map((one: Reply) => convert.hit(one.event, one.score, one.relevance));
  }

  /** The events whose vectors are nearest to an event's, or to a vector; the score is the cosine. */
  async similar(how: {
    event?: number;
    vector?: Vector;
    where?: Where;
    limit?: number;
    minSimilarity?: number;
    minRelevance?: number;
    asOf?: Moment;
    approximate?: boolean;
  }): Promise<Hit[]> {
    if ((how.event === undefined) === (how.vector === undefined))
      throw new Error('pass either event or vector');
    const answer = await this.ask('Similar', {
      event_id: how.event,
      vector: convert.vector(how.vector),
      selection: convert.selection(how.where),
      limit: how.limit ?? 10,
      min_similarity: how.minSimilarity,
      min_relevance: how.minRelevance,
      as_of: convert.asOf(how.asOf),
      approximate: how.approximate,
    });
    return answer.hits.map((one: Reply) => convert.hit(one.event, one.similarity, one.relevance));
  }

  /** The events that meet conditions, in an order; all of them with the limit null. */
  async query(how: Listing & { where?: Where; order?: Order; axis?: Axis } = {}): Promise<Event[]> {
    return this.pages(
      'Pattern',
      how.limit === undefined ? 50 : how.limit,
      (page) => page.events.map((one: Reply) => convert.event(one)),
      {
        selection: convert.selection(how.where),
        order: convert.order(how.order),
        axis: convert.axis(how.axis ?? 'recorded'),
        as_of: convert.asOf(how.asOf),
      },
    );
  }

  /** Events along a time: when they happened, or were recorded. */
  async timeline(how: Listing & { where?: Where; axis?: Axis; newestFirst?: boolean } = {}): Promise<TimelineEntry[]> {
    return this.pages(
      'Timeline',
      how.limit === undefined ? 50 : how.limit,
      (page) => page.entries.map(convert.timelineEntry),
      {
        selection: convert.selection(how.where),
        axis: convert.axis(how.axis ?? 'happened'),
        newest_first: how.newestFirst,
        as_of: convert.asOf(how.asOf),
      },
    );
  }

  /** The event that is believed now instead of an event. */
  async resolve(
    event: number,
    how: { asOf?: Moment; includeForgotten?: boolean; touch?: boolean } = {},
  ): Promise<Resolved> {
    const fields = { as_of: convert.asOf(how.asOf), include_forgotten: how.includeForgotten, touch: how.touch };
    return convert.resolved(await this.ask('Resolve', { event_id: event, ...fields }));
  }

  /** The events that an event rests on: its causes and evidence, and theirs. */
  async why(event: number, how: Reach = {}): Promise<Walk> {
    return convert.walk(await this.ask('Why', { event_id: event, ...reach(how) }));
  }

  /** The events that rest on an event; with `parts`, also those that belong to it. */
  async impact(event: number, { parts, ...how }: Reach & { parts?: boolean } = {}): Promise<Walk> {
    return convert.walk(await this.ask('Impact', { event_id: event, include_parts: parts, ...reach(how) }));
  }

  /** The events reachable from an event, breadth first; outgoing by default. */
  async traverse(
    event: number,
    { types, follow = 'outgoing', ...how }: Reach & { types?: readonly EdgeType[]; follow?: Follow } = {},
  ): Promise<Walk> {
    const fields = { types: convert.edgeTypes(types), follow: convert.follow(follow), ...reach(how) };
    return convert.walk(await this.ask('Traverse', { event_id: event, ...fields }));
  }

  /** The shortest path from one event to another, in both directions by default; empty if none is within `depth`. */
  async path(
    start: number,
    end: number,
    {
      types,
      follow = 'both',
      depth,
      asOf,
    }: { types?: readonly EdgeType[]; follow?: Follow; depth?: number; asOf?: Moment } = {},
  ): Promise<Step[]> {
    const fields = {
      types: convert.edgeTypes(types),
      follow: convert.follow(follow),
      depth,
      as_of: convert.asOf(asOf),
    };
    return (await this.ask('Path', { from_id: start, to_id: end, ...fields })).steps.map(convert.step);
  }

  /** Contradictions, and contested beliefs. */
  async conflicts({ limit = 50, asOf }: Listing = {}): Promise<Conflict[]> {
    return this.pages('ListConflicts', limit, (page) => page.conflicts.map(convert.conflict), {
      as_of: convert.asOf(asOf),
    });
  }

  /**
   * A text for a prompt: what the brain knows about a question, in at most `budget` tokens, of which an ASCII character
   * counts as a quarter and any other as one. Times in the question are read with the `now` and `zone` of `where`, and
   * dates in the text are days of that zone.
   */
  async context(
    text: string,
    budget = 2000,
    how: {
      vector?: Vector;
      where?: Where;
      candidates?: number;
      reasonsDepth?: number;
      /** The text is empty unless a hit has this relevance; 0.65 if not given. */
      minRelevance?: number;
      asOf?: Moment;
      touch?: boolean;
    } = {},
  ): Promise<Context> {
    const answer = await this.ask('Context', {
      text,
      budget_tokens: budget,
      vector: convert.vector(how.vector),
      selection: convert.selection(how.where),
      candidates: how.candidates,
      reasons_depth: how.reasonsDepth,
      min_relevance: how.minRelevance,
      as_of: convert.asOf(how.asOf),
      touch: how.touch,
    });
    return convert.context(answer);
  }

  /** Runs sources and stages in one call on one view. */
  async pipeline(
    sources: readonly Source[],
    stages: readonly Stage[] = [],
    {
      user,
      agent,
      run,
      includeForgotten,
      asOf,
    }: { user?: string; agent?: string; run?: string; includeForgotten?: boolean; asOf?: Moment } = {},
  ): Promise<Rows> {
    const answer = await this.ask('Pipeline', {
      sources: sources.map(convert.source),
      stages: stages.map(convert.stage),
      scope: given({ user, agent, run }),
      include_forgotten: includeForgotten,
      as_of: convert.asOf(asOf),
    });
    return convert.rows(answer);
  }

  /** Sessions by number: all, or those of a state. */
  async sessions(
    state: '' | 'open' | 'closed' = '',
    { oldestFirst, limit = 50 }: { oldestFirst?: boolean; limit?: number | null } = {},
  ): Promise<Session[]> {
    const fields = { state: ['', 'open', 'closed'].indexOf(state), oldest_first: oldestFirst };
    return this.pages('ListSessions', limit, (page) => page.sessions.map(convert.session), fields);
  }

  /** One session, by its number or its key. */
  async getSession(session: number | string): Promise<Session> {
    const which = typeof session === 'string' ? { key: session } : { session_id: session };
    return convert.session((await this.ask('GetSession', which)).session);
  }
}

function reach({ depth, limit, asOf, includeForgotten }: Reach): Message {
  return { depth, limit, as_of: convert.asOf(asOf), include_forgotten: includeForgotten };
}
