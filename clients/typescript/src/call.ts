// One call: made, made again if it may be, and its refusal told.
//
// What passes is tried again: UNAVAILABLE (the daemon restarts, a brain is being recovered, a connection was lost), and
// a full queue. Reads change nothing, and writes carry a request id, so that neither is done twice. Promises: from the
// first failure on no attempt is begun after `retryFor` milliseconds.

import { randomBytes } from 'node:crypto';

import * as grpc from '@grpc/grpc-js';

import { Refused, refused } from './errors';
import { METHODS, errorInfo, type Message, type Told } from './wire';

/** Milliseconds of the first pause at most; each further one is at most twice as long. */
const FIRST_PAUSE = 20;
/** Milliseconds of a pause at most. */
const LONGEST_PAUSE = 2000;

/** A UUIDv7: 48 bits of milliseconds, then chance. */
export function newRequestId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** True if the same request may be done in a moment. */
export function isPassing(refusal: Refused): boolean {
  if (refusal.code === 'RESOURCE_EXHAUSTED') return ['QUEUE_FULL', 'LOAD'].includes(refusal.reason);
  return refusal.code === 'UNAVAILABLE';
}

/** What gRPC says of a call that failed. */
export function told(error: grpc.ServiceError): Refused {
  const details = error.metadata?.get('grpc-status-details-bin')[0];
  const { reason, metadata } = errorInfo(details instanceof Buffer ? details : new Uint8Array());
  return refused(grpc.status[error.code] ?? 'UNKNOWN', reason, error.details || error.message, metadata);
}

/** The attempts of one call, or of one stream. */
export class Attempts {
  private until: number | undefined;
  private pause = FIRST_PAUSE;

  constructor(private readonly retryFor: number) {}

  /** Something came: the time for attempts begins anew with the next failure. */
  progress(): void {
    this.until = undefined;
    this.pause = FIRST_PAUSE;
  }

  /** Waits until the next attempt; throws the refusal if there is to be none. */
  async wait(refusal: Refused): Promise<void> {
    const now = performance.now();
    this.until ??= now + this.retryFor;
    // Half of it is left to chance, so that those who were refused together do not come back together.
    const pause = this.pause * (0.5 + Math.random() / 2);
    if (!isPassing(refusal) || now + pause > this.until) throw refusal;
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Makes calls on a channel. The token, and a channel that may hold it or a key, are shown by no log of an object. */
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

  /** Ends the connection. Calls under way fail. */
  close(): void {
    this.#client.close();
  }

  /** Makes a call of one request and one response. */
  async call(name: string, request: Message): Promise<Told> {
    const attempts = new Attempts(this.retryFor);
    for (;;) {
      try {
        return await this.attempt(name, request);
      } catch (error) {
        const refusal = told(error as grpc.ServiceError);
        const options = request['options'] as { request_id: string } | undefined;
        if (options) refusal.metadata['request_id'] = options.request_id;
        await attempts.wait(refusal);
      }
    }
  }

  private attempt(name: string, request: Message): Promise<Told> {
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

  /** Begins a call of one request and many responses, which has no end of its own. */
  stream(name: string, request: Message): grpc.ClientReadableStream<Told> {
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

function definition(name: string): grpc.MethodDefinition<Message, Told> {
  const method = METHODS.get(name);
  if (!method) throw new Error(`amem.v1 has no method ${name}`);
  return method;
}
