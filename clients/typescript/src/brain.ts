// One brain: writing to it and asking it.
//
// Every write carries a request id and is tried again with it, so that it is done once whatever becomes of the connection.
// What every call does, costs and refuses is told in the protos, proto/proto/amem/v1.

import type { Caller } from './call';
import { newRequestId } from './call';
import * as convert from './convert';
import { given } from './convert';
import { Commits } from './follow';
import { parseObject, stringify } from './json';
import {
  EDGE_TYPES,
  type Axis,
  type Conflict,
  type Context,
  type EdgeType,
  type End,
  type Ends,
  type Event,
  type EventType,
  type Follow,
  type Hit,
  type JsonObject,
  type Moment,
  type New,
  type NewFields,
  type Order,
  type Resolved,
  type Rows,
  type Session,
  type Source,
  type Stage,
  type Step,
  type TimelineEntry,
  type Walk,
  type Where,
  type WriteOptions,
} from './types';
import type { Message, Told } from './wire';

/** Events of one page of a listing. */
const PAGE = 1000;
type Vector = ArrayLike<number>;
/** Of what follows edges: 0 is the daemon's default. */
type Reach = { depth?: number; limit?: number; asOf?: Moment; includeForgotten?: boolean };
type Listing = { limit?: number | null; asOf?: Moment };
type Seen = { asOf?: Moment; includeForgotten?: boolean; edges?: boolean; vectors?: boolean; touch?: boolean };

/** A brain of a daemon. */
export class Brain {
  /** The newest commit that an answer to this object named. */
  lsn: bigint;
  /** Which brain answered when it was opened. */
  readonly instance: string;
  /** The file, on the daemon's machine. */
  readonly file: string;
  /** True if the caller may read the file itself, as Reader does. */
  readonly directRead: boolean;
  readonly dimension: number;

  constructor(
    private readonly caller: Caller,
    readonly name: string,
    readonly agent: string,
    opened: Told,
  ) {
    this.lsn = BigInt(opened.moment.lsn);
    this.instance = opened.moment.instance;
    this.file = opened.path;
    this.directRead = opened.direct_read;
    this.dimension = opened.info.dimension;
  }

  // What is under every call.

  private saw(lsn: string): void {
    if (BigInt(lsn) > this.lsn) this.lsn = BigInt(lsn);
  }

  private async ask(name: string, fields: Message = {}): Promise<Told> {
    const answer = await this.caller.call(name, { brain: this.name, ...given(fields) });
    this.saw(answer.moment.lsn);
    return answer;
  }

  private async write(name: string, { requestId, onlyIf }: WriteOptions, fields: Message = {}): Promise<Told> {
    const options = given({
      agent: this.agent,
      request_id: requestId ?? newRequestId(),
      expected_lsn: onlyIf?.lsn === undefined ? undefined : String(onlyIf.lsn),
      expected_head: onlyIf?.head && { event_id: onlyIf.head[0], head_id: onlyIf.head[1] },
    });
    const answer = await this.caller.call(name, { brain: this.name, options, ...given(fields) });
    this.saw(answer.commit.lsn);
    return answer;
  }

  private async pages<T>(name: string, limit: number | null, rows: (page: Told) => T[], fields: Message): Promise<T[]> {
    const found: T[] = [];
    let token = '';
    while (limit === null || found.length < limit) {
      const size = limit === null ? PAGE : Math.min(PAGE, limit - found.length);
      const page = await this.ask(name, { page_size: size, page_token: token, ...fields });
      for (const row of rows(page)) found.push(row);
      token = page.next_page_token;
      if (!token) break;
    }
    return found;
  }

  // Writing.

  /** Adds an event and gives its id. What the edges mean is told at `NewFields`. */
  async add(type: EventType, text: string, fields: NewFields & WriteOptions = {}): Promise<number> {
    const { requestId, onlyIf, ...rest } = fields;
    const [id] = await this.addMany([{ type, text, ...rest }], given({ requestId, onlyIf }));
    return id as number;
  }

  /** Adds what was observed; as `add`. */
  addFact(text: string, fields: NewFields & WriteOptions = {}): Promise<number> {
    return this.add('fact', text, fields);
  }

  /** Adds what was chosen; as `add`. */
  addDecision(text: string, fields: NewFields & WriteOptions = {}): Promise<number> {
    return this.add('decision', text, fields);
  }

  /** Adds what was concluded; as `add`. */
  addInference(text: string, fields: NewFields & WriteOptions = {}): Promise<number> {
    return this.add('inference', text, fields);
  }

  /** Adds how to do something; as `add`. */
  addSkill(text: string, fields: NewFields & WriteOptions = {}): Promise<number> {
    return this.add('skill', text, fields);
  }

  /** Adds the summary of an experience; as `add`. */
  addEpisode(text: string, fields: NewFields & WriteOptions = {}): Promise<number> {
    return this.add('episode', text, fields);
  }

  /**
   * Adds all of a batch or nothing of it, and gives the ids in order. `follow` ties each event to the one before it in its
   * session; `relate` ties each to so many similar ones.
   */
  async addMany(
    events: readonly New[],
    { follow, relate, minSimilarity = 0, ...how }: WriteOptions & { follow?: boolean; relate?: number; minSimilarity?: number } = {},
  ): Promise<number[]> {
    const places = new Map(events.map((event, place) => [event, place]));
    const end = (of: End): Message => {
      if (typeof of === 'number') return { event_id: of };
      const place = places.get(of);
      if (place === undefined) throw new RangeError(`an edge leads to an event that is not in the batch: "${of.text}"`);
      return { batch_index: place };
    };
    const links = events.flatMap((event, place) =>
      ends(event).map(([type, of]) => ({ source: { batch_index: place }, target: end(of), type: convert.edgeType(type) })),
    );
    const answer = await this.write('Ingest', how, {
      events: events.map(convert.newEvent),
      links,
      follow,
      relate: relate === undefined ? undefined : { k: relate, min_similarity: minSimilarity },
    });
    return answer.event_ids.map(Number);
  }

  /**
   * Replaces a belief and gives the new event's id. With `toHead` it is the newest head of the chain that is replaced.
   * `targetConfidence` is what is left of the old one's; 0 unless it is said.
   */
  async correct(
    target: number,
    text: string,
    fields: Omit<NewFields, 'causedBy' | 'supports' | 'contradicts' | 'supersedes' | 'relatedTo' | 'partOf' | 'follows'> &
      WriteOptions & { reason?: string; toHead?: boolean; targetConfidence?: number } = {},
  ): Promise<number> {
    const { reason, toHead, targetConfidence, requestId, onlyIf, ...rest } = fields;
    const answer = await this.write('Correct', given({ requestId, onlyIf }), {
      target_id: target,
      to_head: toHead,
      event: convert.newEvent({ type: 'correction', text, ...rest }),
      target_confidence: targetConfidence,
      reason,
    });
    return Number(answer.event_id);
  }

  /** Adds an edge, or gives an existing one another weight: `link(a, 'caused-by', b)`, a was caused by b. */
  async link(source: number, type: EdgeType, target: number, weight?: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Link', how, { source_id: source, target_id: target, type: convert.edgeType(type), weight });
  }

  /** Retracts an edge. */
  async unlink(source: number, type: EdgeType, target: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Unlink', how, { source_id: source, target_id: target, type: convert.edgeType(type) });
  }

  /** Keeps an event from fading. */
  async pin(event: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Pin', how, { event_id: event });
  }

  /** Lets it fade again. */
  async unpin(event: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Unpin', how, { event_id: event });
  }

  /** Hides an event, at every moment. `restore` undoes it. */
  async forget(event: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Forget', how, { event_id: event });
  }

  /** Shows a forgotten event again. */
  async restore(event: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Restore', how, { event_id: event });
  }

  /**
   * Takes text, vector and attributes away for good, from every file of the daemon's. Gives the episodes whose text may
   * repeat what was erased.
   */
  async erase(events: readonly number[], how: WriteOptions = {}): Promise<number[]> {
    return (await this.write('Erase', how, { event_ids: events })).episode_ids.map(Number);
  }

  /** Counts events as used. */
  async touch(events: readonly number[], how: WriteOptions = {}): Promise<void> {
    await this.write('Touch', how, { touched: events.map((event) => ({ event_id: event })) });
  }

  /** Gives an event other attributes, or none. */
  async setAttributes(event: number, attributes: JsonObject | null, how: WriteOptions = {}): Promise<void> {
    await this.write('SetAttributes', how, { event_id: event, attributes_json: convert.attributes(attributes) });
  }

  /** Gives an event another vector, or none. */
  async setVector(event: number, vector: Vector | null, how: WriteOptions = {}): Promise<void> {
    await this.write('SetVector', how, { event_id: event, vector: convert.vector(vector) });
  }

  /** Computes the strength of every event for now. */
  async decay(how: WriteOptions = {}): Promise<void> {
    await this.write('Decay', how);
  }

  /** Summarises a session by an episode, and gives its id. The events leave listings, and stay in the graph. */
  async compress(session: number, text: string, { vector, ...how }: WriteOptions & { vector?: Vector } = {}): Promise<number> {
    const fields = { session_id: session, text, vector: convert.vector(vector) };
    return Number((await this.write('CompressSession', how, fields)).event_id);
  }

  /** Opens a session and gives its number; one that is open under the same key is found again. */
  async openSession(key = '', how: WriteOptions = {}): Promise<number> {
    return (await this.write('OpenSession', how, { key })).session_id;
  }

  /** Closes a session. */
  async closeSession(session: number, outcome = '', how: WriteOptions = {}): Promise<void> {
    await this.write('CloseSession', how, { session_id: session, outcome });
  }

  /**
   * Opens a session, does some work in it, and closes it with its outcome: what was set, else, of work that failed, why.
   */
  async session<T>(key: string, work: (session: { readonly id: number; outcome: string }) => Promise<T>): Promise<T> {
    const session = { id: await this.openSession(key), outcome: '' };
    try {
      return await work(session);
    } catch (error) {
      // At most 4096 bytes are kept of an outcome.
      session.outcome ||= Buffer.from(`failed: ${String(error)}`).subarray(0, 4090).toString('utf8').replace(/\uFFFD+$/, '');
      throw error;
    } finally {
      await this.closeSession(session.id, session.outcome);
    }
  }

  /** Replaces the settings. */
  async setSettings(settings: JsonObject, how: WriteOptions = {}): Promise<void> {
    await this.write('SetSettings', how, { settings_json: stringify(settings) });
  }

  /** The settings. */
  async settings(): Promise<JsonObject> {
    return parseObject((await this.ask('GetBrain')).settings_json);
  }

  /** Folds the journal into a new base, and gives its generation. The daemon does it by itself, too. */
  async checkpoint(): Promise<number> {
    return Number((await this.ask('CheckpointBrain')).generation);
  }

  // Asking.

  /** An event by its id. `touch` counts it as used; yes unless told otherwise. */
  async get(event: number, how: Seen = {}): Promise<Event> {
    return (await this.getMany([event], how))[0] as Event;
  }

  /** Events by their ids, in that order; one that is not there fails the call. */
  async getMany(events: readonly number[], { asOf, includeForgotten, edges = false, vectors, touch }: Seen = {}): Promise<Event[]> {
    const answer = await this.ask('GetEvents', {
      event_ids: events,
      as_of: convert.asOf(asOf),
      include_forgotten: includeForgotten,
      include_edges: edges,
      include_vectors: vectors,
      touch,
    });
    return answer.events.map((one: Told) => convert.event(one, edges));
  }

  /** What answers a question best: words, vectors and the graph together. */
  async search(
    text: string,
    how: {
      vector?: Vector; where?: Where; limit?: number; asOf?: Moment; includeSuperseded?: boolean; textWeight?: number;
      vectorWeight?: number;
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
    });
    return answer.hits.map(convert.searchHit);
  }

  /** What answers a question best by its words alone. */
  async text(text: string, { where, limit = 10, asOf }: { where?: Where; limit?: number; asOf?: Moment } = {}): Promise<Hit[]> {
    const answer = await this.ask('Text', { text, selection: convert.selection(where), limit, as_of: convert.asOf(asOf) });
    return answer.hits.map((one: Told) => convert.hit(one.event, one.score));
  }

  /** The events whose vectors point the same way as an event's or as a vector; the score is the cosine. */
  async similar(how: {
    event?: number; vector?: Vector; where?: Where; limit?: number; minSimilarity?: number; asOf?: Moment; approximate?: boolean;
  }): Promise<Hit[]> {
    if ((how.event === undefined) === (how.vector === undefined)) throw new Error('similar to what: an event, or a vector');
    const answer = await this.ask('Similar', {
      event_id: how.event,
      vector: convert.vector(how.vector),
      selection: convert.selection(how.where),
      limit: how.limit ?? 10,
      min_similarity: how.minSimilarity,
      as_of: convert.asOf(how.asOf),
      approximate: how.approximate,
    });
    return answer.hits.map((one: Told) => convert.hit(one.event, one.similarity));
  }

  /** The events that meet conditions, in an order; all of them if the limit is null. */
  async query(
    how: Listing & { where?: Where; order?: Order; axis?: Axis } = {},
  ): Promise<Event[]> {
    return this.pages('Pattern', how.limit === undefined ? 50 : how.limit, (page) => page.events.map((one: Told) => convert.event(one)), {
      selection: convert.selection(how.where),
      order: convert.order(how.order),
      axis: convert.axis(how.axis ?? 'recorded'),
      as_of: convert.asOf(how.asOf),
    });
  }

  /** Events along a time: when they happened, or were recorded. */
  async timeline(
    how: Listing & { where?: Where; axis?: Axis; newestFirst?: boolean } = {},
  ): Promise<TimelineEntry[]> {
    return this.pages('Timeline', how.limit === undefined ? 50 : how.limit, (page) => page.entries.map(convert.timelineEntry), {
      selection: convert.selection(how.where),
      axis: convert.axis(how.axis ?? 'happened'),
      newest_first: how.newestFirst,
      as_of: convert.asOf(how.asOf),
    });
  }

  /** What is believed now in place of an event. */
  async resolve(event: number, how: { asOf?: Moment; includeForgotten?: boolean; touch?: boolean } = {}): Promise<Resolved> {
    const fields = { as_of: convert.asOf(how.asOf), include_forgotten: how.includeForgotten, touch: how.touch };
    return convert.resolved(await this.ask('Resolve', { event_id: event, ...fields }));
  }

  /** What an event rests on: what caused it and speaks for it, and what caused that. */
  async why(event: number, how: Reach = {}): Promise<Walk> {
    return convert.walk(await this.ask('Why', { event_id: event, ...reach(how) }));
  }

  /** What rests on an event; with `parts`, what belongs to it, too. */
  async impact(event: number, { parts, ...how }: Reach & { parts?: boolean } = {}): Promise<Walk> {
    return convert.walk(await this.ask('Impact', { event_id: event, include_parts: parts, ...reach(how) }));
  }

  /** What can be reached from an event, breadth first; outgoing unless told otherwise. */
  async traverse(
    event: number,
    { types, follow = 'outgoing', ...how }: Reach & { types?: readonly EdgeType[]; follow?: Follow } = {},
  ): Promise<Walk> {
    const fields = { types: convert.edgeTypes(types), follow: convert.follow(follow), ...reach(how) };
    return convert.walk(await this.ask('Traverse', { event_id: event, ...fields }));
  }

  /** The shortest way from one event to another, both ways unless told otherwise; empty if none is short enough. */
  async path(
    start: number,
    end: number,
    { types, follow = 'both', depth, asOf }: { types?: readonly EdgeType[]; follow?: Follow; depth?: number; asOf?: Moment } = {},
  ): Promise<Step[]> {
    const fields = { types: convert.edgeTypes(types), follow: convert.follow(follow), depth, as_of: convert.asOf(asOf) };
    return (await this.ask('Path', { from_id: start, to_id: end, ...fields })).steps.map(convert.step);
  }

  /** What contradicts what, and which beliefs are contested. */
  async conflicts({ limit = 50, asOf }: Listing = {}): Promise<Conflict[]> {
    return this.pages('ListConflicts', limit, (page) => page.conflicts.map(convert.conflict), { as_of: convert.asOf(asOf) });
  }

  /** What is known of a question as a text of at most so many tokens, for a prompt. */
  async context(
    text: string,
    budget = 2000,
    how: { vector?: Vector; where?: Where; reasonsDepth?: number; asOf?: Moment; touch?: boolean } = {},
  ): Promise<Context> {
    const answer = await this.ask('Context', {
      text,
      budget_tokens: budget,
      vector: convert.vector(how.vector),
      selection: convert.selection(how.where),
      reasons_depth: how.reasonsDepth,
      as_of: convert.asOf(how.asOf),
      touch: how.touch,
    });
    return convert.context(answer);
  }

  /** Stages composed in one call on one view. */
  async pipeline(
    sources: readonly Source[],
    stages: readonly Stage[] = [],
    { user, agent, run, includeForgotten, asOf }: { user?: string; agent?: string; run?: string; includeForgotten?: boolean; asOf?: Moment } = {},
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

  /**
   * Follows the commits after an LSN, 0 being from the first, or from now on. An LSN that was kept from before is of the
   * instance that it was kept with; of this brain's if none is given.
   *
   * It goes on by itself after a lost connection. Refused with reason COMMITS_GONE says that commits after the LSN are not
   * held any more, and in `metadata` after which they are.
   */
  async subscribe(
    afterLsn?: bigint | number,
    { instance, includeVectors, includeForgotten }: { instance?: string; includeVectors?: boolean; includeForgotten?: boolean } = {},
  ): Promise<Commits> {
    const request = given({ brain: this.name, include_vectors: includeVectors, include_forgotten: includeForgotten });
    if (afterLsn === undefined) return new Commits(this.caller, request).begin();
    request['after_lsn'] = String(afterLsn);
    request['instance'] = instance ?? this.instance;
    return new Commits(this.caller, request);
  }
}

function reach({ depth, limit, asOf, includeForgotten }: Reach): Message {
  return { depth, limit, as_of: convert.asOf(asOf), include_forgotten: includeForgotten };
}

/** Type and end of each edge of a new event. */
function ends(event: New): [string, End][] {
  const all = [
    event.causedBy, event.supports, event.contradicts, event.supersedes, event.relatedTo, event.partOf, event.follows,
  ];
  return all.flatMap((given: Ends | undefined, place) => {
    const list = given === undefined ? [] : isList(given) ? given : [given];
    return list.map((end): [string, End] => [EDGE_TYPES[place] as string, end]);
  });
}

function isList(given: Ends): given is readonly End[] {
  return Array.isArray(given);
}
