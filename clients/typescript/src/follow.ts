// Following the commits of a brain, whatever becomes of the connection.
//
// Promises: every commit comes once, whole and in order; after a lost connection or a restart of the daemon it goes on
// behind the last whole commit. A reader that is slow holds nothing up: what it has not read is not asked for.

import type * as grpc from '@grpc/grpc-js';

import { Attempts, told, type Caller } from './call';
import { commit } from './convert';
import { refused, type Refused } from './errors';
import type { Commit } from './types';
import type { Message, Told } from './wire';

/** The commits of a brain, one after the other. Iteration waits for the next; `close` ends it. */
export class Commits implements AsyncIterableIterator<Commit> {
  /** A call under way holds the token, which no log of an object shows. */
  #stream: grpc.ClientReadableStream<Told> | undefined;
  #messages: AsyncIterator<Told> | undefined;
  /** Messages of a commit of which more is to come. */
  private parts: Told[] = [];
  private closed = false;
  private readonly attempts: Attempts;

  constructor(
    private readonly caller: Caller,
    /** How the next subscription begins. */
    private readonly request: Message,
  ) {
    this.attempts = new Attempts(caller.retryFor);
  }

  /** The LSN up to which all was given: where to go on another time. Undefined until the daemon has said it. */
  get afterLsn(): bigint | undefined {
    const lsn = this.request['after_lsn'] as string | undefined;
    return lsn === undefined ? undefined : BigInt(lsn);
  }

  /** The instance of that LSN. */
  get instance(): string {
    return (this.request['instance'] as string | undefined) ?? '';
  }

  /** Waits until the daemon has said where the subscription begins: no commit after this is missed. */
  async begin(): Promise<this> {
    while (this.afterLsn === undefined && !this.closed) {
      const message = await this.message();
      if (message !== undefined) this.whole(message);
    }
    return this;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Commit>> {
    // An error ends nothing: who asks again has all attempts again.
    this.attempts.progress();
    for (;;) {
      const message = await this.message();
      if (message === undefined) return { done: true, value: undefined };
      const found = this.whole(message);
      if (found) return { done: false, value: found };
    }
  }

  async return(): Promise<IteratorResult<Commit>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** Ends it. */
  close(): void {
    this.closed = true;
    this.#stream?.cancel();
  }

  /** The next message, of a new subscription if there is none; undefined once it is closed. */
  private async message(): Promise<Told | undefined> {
    while (!this.closed) {
      let refusal: Refused;
      try {
        if (!this.#messages) {
          this.#stream = this.caller.stream('Subscribe', { ...this.request });
          this.#messages = this.#stream[Symbol.asyncIterator]();
        }
        const message = await this.#messages.next();
        if (!message.done) {
          this.attempts.progress();
          return message.value;
        }
        refusal = refused('UNAVAILABLE', 'CONNECTION_LOST', 'the daemon ended the subscription');
      } catch (error) {
        refusal = told(error as grpc.ServiceError);
      }
      this.#messages = this.#stream = undefined;
      this.parts = [];
      if (this.closed) break;
      // What was not read in time comes again.
      if (refusal.reason !== 'SLOW_SUBSCRIBER') await this.attempts.wait(refusal);
    }
    return undefined;
  }

  /** The commit that is whole with a message, if one is. */
  private whole(message: Told): Commit | undefined {
    this.parts.push(message);
    if (message.more) return undefined;
    const parts = this.parts;
    this.parts = [];
    this.request['after_lsn'] = message.moment.lsn;
    this.request['instance'] = message.moment.instance;
    const isCommit = message.kind !== 0 || parts.some((part) => part.changes.length > 0);
    return isCommit ? commit(parts) : undefined;
  }
}
