// An answer of a MemoryAgent: its pieces as they come, and then what memory did.
//
// Promises: the end of an answer is handled once, in whichever way it ends; after it every property has its last value,
// except for a turn that waits for the daemon, whose properties fill when it is stored.

import { ModelError, type AmemError } from './errors';
import { toDate, type Micros } from './types';

/** A memory that the model was given. */
export interface GivenMemory {
  /** Stable over all versions of the memory; the turn, of what was only said; empty for other events. */
  id: string;
  /** The memory, or the words that were said. */
  text: string;
  /** 0 to 1: how well it answers what was said. */
  score: number;
  /** The kind of a memory; `said` or `written`, if none was formed. */
  kind: string;
  /** The event of this version, or of the words. */
  eventId: number;
  /** When it happened or was said. */
  saidMicros: Micros;
  /** The entity or the relation that led to it; empty if the words did. */
  via: string;
  /** Memories that it may contradict. */
  conflictIds: string[];
  /** The parts of the score, with `explain`. */
  parts: Record<string, number>;
  /** Who said it; empty if that is not known. */
  speaker?: string;
  /** Since when it does not hold any more; null if it holds. */
  untilMicros?: Micros | null;
  /** True if it has not the words of the question. */
  isWeak?: boolean;
}

/** How two entities are related, such as User lives_in Porto. */
export interface Relation {
  source: string;
  relation: string;
  target: string;
}

/** What became of a fact of a turn. */
export interface FormedMemory {
  /** `none` if a memory says so already. */
  event: 'add' | 'update' | 'delete' | 'none';
  id: string;
  text: string;
  /** The text before, of an update or a delete. */
  oldText: string | null;
  kind: string;
  relations: Relation[];
  /** Names in the text. */
  entities: string[];
  /** The event of the memory's current version. */
  eventId: number;
  /** What decided: `hash`, `model`, `caller`, or a rule such as `rule:home`. */
  by: string;
  conflictIds: string[];
  /** True if it gives orders to a model: it is never given to one. */
  quarantined: boolean;
}

/** What the daemon did with a turn. */
export interface Outcome {
  formed: FormedMemory[];
  stages: Record<string, Record<string, number>>;
  /** Facts that were not stored. */
  rejected: { text: string; why: string }[];
  /** Work that the daemon still has, such as `unreachable: …`. */
  left: string[];
}

/** What was said in one turn, for as long as it is not stored. */
export interface Turn {
  readonly said: string;
  readonly saidMicros: Micros;
  /** The answer, if it is whole. */
  answer: string | null;
  answeredMicros: Micros;
  /** A repetition under this key stores nothing. */
  readonly key: string;
  /** What the daemon did with it; null until it is stored. */
  outcome: Outcome | null;
  /** Why it will never be stored. */
  refusal: AmemError | null;
}

/** What an answer needs of its agent. */
export interface Ends {
  begin(signal: AbortSignal): Promise<Iterator<string> | AsyncIterator<string>>;
  ended(answer: Answer, isAnswer: boolean): Promise<AmemError | null>;
}

/**
 * An answer: iterate over it for its pieces, or take `text`, which reads it to the end.
 *
 * An answer that is not read to its end is ended by leaving the loop, by `close`, by the next `chat` or by the end of
 * the agent; it is cut then. What the user said is remembered in any case; a cut answer is not, and stays in the
 * conversation.
 */
export class Answer implements AsyncIterable<string> {
  /** True if the answer was not read to its end. */
  isCut = false;
  /** True once nothing more comes. */
  isEnded = false;
  /** What has come so far. */
  said = '';
  readonly #turn: Turn;
  readonly #ends: Ends;
  readonly #stop = new AbortController();
  #memoryError: AmemError | null;
  #pieces: Iterator<string> | AsyncIterator<string> | undefined;
  /** The last step: steps run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /** Answers are made by `MemoryAgent.chat`. */
  constructor(
    turn: Turn,
    /** The memories that the model was given, the best first. */
    readonly memories: readonly GivenMemory[],
    memoryError: AmemError | null,
    ends: Ends,
  ) {
    this.#turn = turn;
    this.#memoryError = memoryError;
    this.#ends = ends;
  }

  [Symbol.asyncIterator](): AsyncIterator<string, undefined> {
    return {
      next: () => this.#step(() => this.#next()),
      return: async () => {
        await this.close();
        return { done: true, value: undefined };
      },
    };
  }

  /** The whole answer; reads it to its end. */
  async text(): Promise<string> {
    for await (const _ of this);
    return this.said;
  }

  /** Ends the answer; it is cut if more would have come. Tells the model so by its signal. */
  close(): Promise<void> {
    this.#stop.abort();
    return this.#step(() => this.#cut());
  }

  /**
   * Why the memory could not be asked, or the turn not be stored. The turn waits in the agent's `pending`; one that was
   * refused for good is in its `refused`.
   */
  get memoryError(): AmemError | null {
    return this.#turn.refusal ?? this.#memoryError;
  }

  /** True if the turn is in the memory. */
  get isStored(): boolean {
    return this.#turn.outcome !== null;
  }

  /** What became of the facts of the turn. */
  get formed(): readonly FormedMemory[] {
    return this.#turn.outcome?.formed ?? [];
  }

  /** What observe, extract, store and relate counted; empty until the turn is stored. */
  get stages(): Readonly<Record<string, Record<string, number>>> {
    return this.#turn.outcome?.stages ?? {};
  }

  /** Facts that were not stored. */
  get rejected(): readonly { text: string; why: string }[] {
    return this.#turn.outcome?.rejected ?? [];
  }

  /** Work that the daemon still has with the turn, such as facts that its model has not found yet. */
  get left(): readonly string[] {
    return this.#turn.outcome?.left ?? [];
  }

  /** Everything that memory did for this answer, for JSON. */
  explain(): Record<string, unknown> {
    const { formed, stages, rejected, left, isCut, isStored, memoryError } = this;
    const memories = this.memories.map(({ saidMicros, ...one }) => ({
      ...one,
      said: toDate(saidMicros).toISOString(),
    }));
    return {
      memories,
      formed,
      stages,
      rejected,
      left,
      isCut,
      isStored,
      memoryError: memoryError && memoryError.message,
    };
  }

  #step<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#last.then(step);
    this.#last = done.catch(() => {});
    return done;
  }

  async #next(): Promise<IteratorResult<string, undefined>> {
    while (!this.isEnded) {
      let result: IteratorResult<string>;
      try {
        this.#pieces ??= await this.#ends.begin(this.#stop.signal);
        result = await this.#pieces.next();
        if (!result.done && typeof result.value !== 'string')
          throw new TypeError(`the model gave ${typeof result.value}, not text`);
        if (result.done && !this.said) throw new ModelError('the model gave an empty answer');
      } catch (error) {
        // A model that is stopped may fail.
        if (this.#stop.signal.aborted) {
          await this.#cut();
          break;
        }
        await this.#end(false);
        throw error;
      }
      if (result.done) await this.#end(true);
      else if (result.value) {
        this.said += result.value;
        return { done: false, value: result.value };
      }
    }
    return { done: true, value: undefined };
  }

  async #cut(): Promise<void> {
    if (this.isEnded) return;
    this.isCut = true;
    await this.#end(false);
  }

  async #end(isAnswer: boolean): Promise<void> {
    this.isEnded = true;
    try {
      // Releases what the model holds; one that ended or failed has released it.
      if (!isAnswer) await this.#pieces?.return?.();
    } catch {
      // It was told to stop, and its answer counts no more.
    }
    this.#memoryError = (await this.#ends.ended(this, isAnswer)) ?? this.#memoryError;
  }
}
