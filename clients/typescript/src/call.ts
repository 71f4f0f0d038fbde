// One call with its retries, and its refusal as an error.
//
// Temporary failures are retried: UNAVAILABLE (the daemon restarts, a brain is being recovered, a connection was lost),
// and a full queue. Reads change nothing, and writes carry a request id, so a retry never applies a change twice.
// Promises: no attempt begins later than `retryFor` milliseconds after the first failure.

import { randomBytes } from 'node:crypto';

import * as grpc from '@grpc/grpc-js';

import { Refused, refused } from './errors';
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
  return refused(grpc.status[error.code] ?? 'UNKNOWN', reason, error.details || error.message, metadata);
}

/** The attempts of one call, or of one stream. */
export class Attempts {
  private until: number | undefined;
  private pause = FIRST_PAUSE;

  constructor(private readonly retryFor: number) {}

  /** Restarts the time for attempts with the next failure. */
  progress(): void {
    this.until = undefined;
    this.pause = FIRST_PAUSE;
  }

  /** Waits until the next attempt; throws the refusal if it is final or the time is up. */
  async wait(refusal: Refused): Promise<void> {
    const now = performance.now();
    this.until ??= now + this.retryFor;
    // Half of the pause is random, so that clients refused together do not retry together.
    const pause = this.pause * (0.5 + Math.random() / 2);
    if (!isPassing(refusal) || now + pause > this.until) throw refusal;
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Calls over a channel. Private fields, so that logging an object shows neither the token nor the channel's key. */
export class Caller {
  readonly #client: grpc.Client;
  readonly #metadata = new grpc.Metadata();

  constructor(
    client: grpc.Client,
    token: string | undefined,
    readonly timeout: number,
    readonly retryFor: number,
  ) {
    this.#client = client;
    if (token) this.#metadata.set('authorization', `Bearer ${token}`);
  }

  /** Closes the connection. Calls under way fail. */
  close(): void {
    this.#client.close();
  }

  /** A unary call, with retries. */
  async call(name: string, request: Message): Promise<Reply> {
    const attempts = new Attempts(this.retryFor);
    for (;;) {
      try {
        return await this.attempt(name, request);
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
