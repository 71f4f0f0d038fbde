// A subscription to the commits of a brain.
//
// Promises: every commit arrives once, whole and in order; after a lost connection or a restart of the daemon the
// subscription resumes behind the last whole commit. A slow reader needs no memory: nothing is read ahead of it.

import type * as grpc from '@grpc/grpc-js';

import { Attempts, refusalOf, type Caller } from './call';
import { commit } from './convert';
import { refused, type Refused } from './errors';
import type { Commit } from './types';
import type { Message, Reply } from './wire';

/** The commits of a brain, in order. Iteration waits for the next; `close` ends it. */
export class Commits implements AsyncIterableIterator<Commit> {
  /** Private: the call has the token, which a logged object must not show. */
  #stream: grpc.ClientReadableStream<Reply> | undefined;
  #messages: AsyncIterator<Reply> | undefined;
  /** The messages of an incomplete commit. */
  private parts: Reply[] = [];
  private closed = false;
  private readonly attempts: Attempts;

  constructor(
    private readonly caller: Caller,
    /** The request of the next subscription. */
    private readonly request: Message,
  ) {
    this.attempts = new Attempts(caller);
  }

  /** The LSN of the last whole commit, where a later subscription resumes. Undefined until the daemon has sent it. */
  get afterLsn(): bigint | undefined {
    const lsn = this.request['after_lsn'] as string | undefined;
    return lsn === undefined ? undefined : BigInt(lsn);
  }

  /** The instance of that LSN. */
  get instance(): string {
    return (this.request['instance'] as string | undefined) ?? '';
  }

  /** Waits for the LSN at which the subscription begins: it misses no commit after this call. */
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
    // After an error, the next call has all attempts again.
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

  /** Ends the subscription. */
  close(): void {
    this.closed = true;
    this.#stream?.cancel();
  }

  /** The next message; subscribes first if there is no stream. Undefined once closed. */
  private async message(): Promise<Reply | undefined> {
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
        refusal = refusalOf(error as grpc.ServiceError);
      }
      this.#messages = this.#stream = undefined;
      this.parts = [];
      if (this.closed) break;
      // The next subscription delivers again what was not read in time.
      if (refusal.reason !== 'SLOW_SUBSCRIBER') await this.attempts.wait(refusal);
    }
    return undefined;
  }

  /** The commit that a message completes, if any. */
  private whole(message: Reply): Commit | undefined {
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
