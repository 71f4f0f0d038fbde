// One call with its retries, and its refusal as an error.
//
// Temporary failures are retried: UNAVAILABLE (the daemon restarts, a brain is being recovered, a connection was lost),
// and a full queue. Reads change nothing, and writes carry a request id, so a retry never applies a change twice.
// Before a retry after a lost connection, the client finds the daemon again, which may listen elsewhere now.
// Promises: no attempt begins later than `retryFor` milliseconds after the first failure; if no daemon answers, the
// error says so in the words of this package, not in gRPC's.

import { randomBytes } from 'node:crypto';

import * as grpc from '@grpc/grpc-js';

import { NO_DAEMON, Refused, refused } from './errors';
import { silent, unavailable } from './meet';
import { METHODS, errorInfo, type Message, type Reply } from './wire';

/** Maximum of the first pause, in milliseconds; each further one is at most twice as long. */
const FIRST_PAUSE = 20;
/** Maximum of any pause, in milliseconds. */
const LONGEST_PAUSE = 2000;

/** A UUIDv7: 48 bits of milliseconds, then random bits. */
export function newRequestId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** True if a retry of the same request may succeed soon. */
export function isPassing(refusal: Refused): boolean {
  if (refusal.code === 'RESOURCE_EXHAUSTED') return ['QUEUE_FULL', 'LOAD'].includes(refusal.reason);
  return refusal.code === 'UNAVAILABLE';
}

/** The refusal in a gRPC error. */
export function refusalOf(error: grpc.ServiceError): Refused {
  const details = error.metadata?.get('grpc-status-details-bin')[0];
  const { reason, metadata } = errorInfo(details instanceof Buffer ? details : new Uint8Array());
  const code = grpc.status[error.code] ?? 'UNKNOWN';
  // The daemon names a reason; without one it is gRPC's, whose words are for its developers.
  if (code === 'UNAVAILABLE' && !reason) return unavailable('the daemon does not answer');
  return refused(code, reason, error.details || error.message, metadata);
}

/** The attempts of one call, or of one stream. */
export class Attempts {
  /** The time of the first failure. */
  private since: number | undefined;
  private failed = 0;
  private pause = FIRST_PAUSE;

  /** `retryFor` is in milliseconds, within the caller's. */
  constructor(
    private readonly caller: Caller,
    private readonly retryFor = Infinity,
  ) {}

  /** Restarts the time for attempts with the next failure. */
  progress(): void {
    this.since = undefined;
    this.failed = 0;
    this.pause = FIRST_PAUSE;
  }

  /** Waits until the next attempt; throws the refusal if it is final or the time is up. */
  async wait(refusal: Refused): Promise<void> {
    const now = performance.now();
    this.since ??= now;
    this.failed += 1;
    const isSilent = refusal.reason === NO_DAEMON;
    if (!isSilent) this.caller.answered();
    // Half of the pause is random, so that clients refused together do not retry together.
    const pause = this.pause * (0.5 + Math.random() / 2);
    if (!isPassing(refusal)) throw refusal;
    if (now + pause > this.since + Math.min(this.caller.patience(), this.retryFor)) {
      if (!isSilent) throw refusal;
      const said = await silent(this.caller.target, this.failed, now - this.since);
      throw refused(refusal.code, refusal.reason, said, refusal.metadata);
    }
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (isSilent) await this.caller.chooseAgain();
  }
}

/** How a caller's calls go. */
export interface CallerOptions {
  token?: string | undefined;
  timeout: number;
  retryFor: number;
  /** Gives the target after a lost connection; missing for a given target. */
  again?: ((target: string) => Promise<string>) | undefined;
  /** Instead of `retryFor` until a daemon has answered. */
  first?: number | undefined;
}

/**
 * Calls over a channel, and over another one if the daemon listens elsewhere after a restart. Private fields, so that
 * logging an object shows neither the token nor the channel's key.
 */
export class Caller {
  readonly timeout: number;
  readonly #metadata = new grpc.Metadata();
  readonly #channelTo: (target: string) => grpc.Client;
  readonly #options: CallerOptions;
  #client: grpc.Client;
  /** Channels that other calls may still use. */
  readonly #retired: grpc.Client[] = [];
  #hasAnswered = false;

  constructor(
    /** Where calls go now. */
    public target: string,
    channelTo: (target: string) => grpc.Client,
    options: CallerOptions,
  ) {
    this.#channelTo = channelTo;
    this.#options = options;
    this.timeout = options.timeout;
    this.#client = channelTo(target);
    if (options.token) this.#metadata.set('authorization', `Bearer ${options.token}`);
  }

  /** How long attempts are made, in milliseconds. */
  patience(): number {
    const { first, retryFor } = this.#options;
    return this.#hasAnswered || first === undefined ? retryFor : Math.min(first, retryFor);
  }

  /** A daemon has answered: from now on a silent one is restarting. */
  answered(): void {
    this.#hasAnswered = true;
  }

  /** Changes to the daemon's new socket if its old one is gone. */
  async chooseAgain(): Promise<void> {
    const before = this.target;
    const target = (await this.#options.again?.(before)) ?? before;
    // Another call may have changed it meanwhile.
    if (target === before || this.target !== before) return;
    this.#retired.push(this.#client);
    this.#client = this.#channelTo(target);
    this.target = target;
  }

  /** Closes the connection. Calls under way fail. */
  close(): void {
    for (const client of [...this.#retired, this.#client]) client.close();
  }

  /** A unary call, with retries: for as many milliseconds as the client's, or fewer. */
  async call(name: string, request: Message, retryFor?: number): Promise<Reply> {
    const attempts = new Attempts(this, retryFor);
    for (;;) {
      try {
        const answer = await this.attempt(name, request);
        this.answered();
        return answer;
      } catch (error) {
        const refusal = refusalOf(error as grpc.ServiceError);
        const options = request['options'] as { request_id: string } | undefined;
        if (options) refusal.metadata['request_id'] = options.request_id;
        await attempts.wait(refusal);
      }
    }
  }

  private attempt(name: string, request: Message): Promise<Reply> {
    const method = definition(name);
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        this.#metadata,
        { deadline: Date.now() + this.timeout },
        (error, answer) => (error ? reject(error) : resolve(answer)),
      );
    });
  }

  /** Begins a call with a stream of responses and no deadline. */
  stream(name: string, request: Message): grpc.ClientReadableStream<Reply> {
    const method = definition(name);
    return this.#client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      this.#metadata,
    );
  }
}

function definition(name: string): grpc.MethodDefinition<Message, Reply> {
  const method = METHODS.get(name);
  if (!method) throw new Error(`amem.v1 has no method ${name}`);
  return method;
}
