// Writes to a brain.
//
// Every write carries a request id and is retried with it, so the daemon applies it once.

import { Calls } from './calls';
import * as convert from './convert';
import { given } from './convert';
import { parseObject, stringify } from './json';
import {
  EDGE_TYPES,
  type EdgeType,
  type End,
  type Ends,
  type Erased,
  type EventType,
  type JsonObject,
  type New,
  type NewFields,
  type WriteOptions,
} from './types';
import type { Message } from './wire';

type Vector = ArrayLike<number>;

/** The writes of a brain. */
export class Writing extends Calls {
  /** Adds an event and returns its id. `NewFields` explains the edges. */
  async add(type: EventType, text: string, fields: NewFields & WriteOptions = {}): Promise<number> {
    const { requestId, onlyIf, ...rest } = fields;
    const [id] = await this.addMany([{ type, text, ...rest }], given({ requestId, onlyIf }));
    return id as number;
  }

  /** Adds an observation; as `add`. */
  addFact(text: string, fields: NewFields & WriteOptions = {}): Promise<number> {
    return this.add('fact', text, fields);
  }

  /** Adds a decision; as `add`. */
  addDecision(text: string, fields: NewFields & WriteOptions = {}): Promise<number> {
    return this.add('decision', text, fields);
  }

  /** Adds a conclusion; as `add`. */
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
   * Adds the whole batch or nothing, and returns the ids in order. `follow` links each event to the previous one of its
   * session; `relate` links each to this number of similar events.
   */
  async addMany(
    events: readonly New[],
    {
      follow,
      relate,
      minSimilarity = 0,
      ...how
    }: WriteOptions & { follow?: boolean; relate?: number; minSimilarity?: number } = {},
  ): Promise<number[]> {
    const places = new Map(events.map((event, place) => [event, place]));
    const end = (of: End): Message => {
      if (typeof of === 'number') return { event_id: of };
      const place = places.get(of);
      if (place === undefined) throw new RangeError(`an edge leads to an event that is not in the batch: "${of.text}"`);
      return { batch_index: place };
    };
    const links = events.flatMap((event, place) =>
      ends(event).map(([type, of]) => ({
        source: { batch_index: place },
        target: end(of),
        type: convert.edgeType(type),
      })),
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
   * Replaces a belief and returns the new event's id. `toHead` replaces the newest head of the chain instead.
   * `targetConfidence` is the confidence left to the old event; default 0.
   */
  async correct(
    target: number,
    text: string,
    fields: Omit<
      NewFields,
      'causedBy' | 'supports' | 'contradicts' | 'supersedes' | 'relatedTo' | 'partOf' | 'follows'
    > &
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

  /** Adds an edge, or changes the weight of an existing one: `link(a, 'caused-by', b)` means that b caused a. */
  async link(source: number, type: EdgeType, target: number, weight?: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Link', how, { source_id: source, target_id: target, type: convert.edgeType(type), weight });
  }

  /** Retracts an edge. */
  async unlink(source: number, type: EdgeType, target: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Unlink', how, { source_id: source, target_id: target, type: convert.edgeType(type) });
  }

  /** Exempts an event from decay. */
  async pin(event: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Pin', how, { event_id: event });
  }

  /** Subjects an event to decay again. */
  async unpin(event: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Unpin', how, { event_id: event });
  }

  /** Hides an event, also from queries of the past. `restore` undoes it. */
  async forget(event: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Forget', how, { event_id: event });
  }

  /** Shows a forgotten event again. */
  async restore(event: number, how: WriteOptions = {}): Promise<void> {
    await this.write('Restore', how, { event_id: event });
  }

  /**
   * Removes text, vector and attributes for good, from every file of the daemon. Waits for readers that have an earlier
   * file open: 2 seconds, or `readersWaitMillis`, at most a minute.
   */
  async erase(events: readonly number[], how: WriteOptions & { readersWaitMillis?: number } = {}): Promise<Erased> {
    const { readersWaitMillis, ...rest } = how;
    const wait = readersWaitMillis === undefined ? undefined : convert.duration(readersWaitMillis);
    return convert.erased(await this.write('Erase', rest, { event_ids: events, ...given({ reader_wait: wait }) }));
  }

  /** Counts events as used. */
  async touch(events: readonly number[], how: WriteOptions = {}): Promise<void> {
    await this.write('Touch', how, { touched: events.map((event) => ({ event_id: event })) });
  }

  /** Replaces or removes an event's attributes. */
  async setAttributes(event: number, attributes: JsonObject | null, how: WriteOptions = {}): Promise<void> {
    await this.write('SetAttributes', how, { event_id: event, attributes_json: convert.attributes(attributes) });
  }

  /** Replaces or removes an event's vector. */
  async setVector(event: number, vector: Vector | null, how: WriteOptions = {}): Promise<void> {
    await this.write('SetVector', how, { event_id: event, vector: convert.vector(vector) });
  }

  /** Computes the strength of every event for now. */
  async decay(how: WriteOptions = {}): Promise<void> {
    await this.write('Decay', how);
  }

  /** Summarises what no episode of a session covers, and returns the new one. The events leave listings, and stay in the graph. */
  async compress(
    session: number,
    text: string,
    { vector, ...how }: WriteOptions & { vector?: Vector } = {},
  ): Promise<number> {
    const fields = { session_id: session, text, vector: convert.vector(vector) };
    return Number((await this.write('CompressSession', how, fields)).event_id);
  }

  /** Opens a session and returns its number; returns the session of the same key, if any: a closed one is opened again. */
  async openSession(key = '', how: WriteOptions = {}): Promise<number> {
    return (await this.write('OpenSession', how, { key })).session_id;
  }

  /** Closes a session. */
  async closeSession(session: number, outcome = '', how: WriteOptions = {}): Promise<void> {
    await this.write('CloseSession', how, { session_id: session, outcome });
  }

  /**
   * Opens a session, runs `work` in it, and closes it with its outcome: the one that `work` set, or else the error with
   * which it failed.
   */
  async session<T>(key: string, work: (session: { readonly id: number; outcome: string }) => Promise<T>): Promise<T> {
    const session = { id: await this.openSession(key), outcome: '' };
    try {
      return await work(session);
    } catch (error) {
      // The daemon accepts at most 4096 bytes.
      session.outcome ||= Buffer.from(`failed: ${String(error)}`)
        .subarray(0, 4090)
        .toString('utf8')
        .replace(/\uFFFD+$/, '');
      throw error;
    } finally {
      await this.closeSession(session.id, session.outcome);
    }
  }

  /** Replaces the settings. */
  async setSettings(settings: JsonObject, how: WriteOptions = {}): Promise<void> {
    await this.write('SetSettings', how, { settings_json: stringify(settings) });
  }

  /** The settings as they were set; missing keys have their defaults. */
  async settings(): Promise<JsonObject> {
    return parseObject((await this.ask('GetBrain')).settings_json);
  }

  /** Makes a new base, and returns its generation. The daemon also does so by itself. */
  async checkpoint(): Promise<number> {
    return Number((await this.ask('CheckpointBrain')).generation);
  }
}

/** The type and the target of each edge of a new event. */
function ends(event: New): [string, End][] {
  const all = [
    event.causedBy,
    event.supports,
    event.contradicts,
    event.supersedes,
    event.relatedTo,
    event.partOf,
    event.follows,
  ];
  return all.flatMap((given: Ends | undefined, place) => {
    const list = given === undefined ? [] : isList(given) ? given : [given];
    return list.map((end): [string, End] => [EDGE_TYPES[place] as string, end]);
  });
}

function isList(given: Ends): given is readonly End[] {
  return Array.isArray(given);
}
