// Models of servers that speak OpenAI's `/chat/completions`, by Node's own `fetch`.
//
// Promises: the key is read from the environment for each request, goes into one header, and is in no log or error.
// Without TLS requests go to this machine only, unless `allowHttp`. Redirects are not followed.
// Not here: tools, images, other shapes of requests. Any function is a model (`agent`).

import * as net from 'node:net';

import { ModelError } from './errors';

/** Bytes of a line of a stream, and of an answer in one piece. */
const LINE_BYTES_MAX = 1 << 20;
/** Bytes of a refusal that are read. */
const REFUSAL_BYTES_MAX = 64 << 10;
/** Characters of a server's own words that an error repeats. */
const WORDS_CHARS_MAX = 300;
/** A name in upper case, so that a key in the place of its name is refused. */
const NAME = /^[A-Z_][A-Z0-9_]*$/;
const LOOPBACK = new net.BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/** Options of a model of a server. */
export interface OpenAIModelOptions {
  /** Such as `https://api.openai.com/v1`. */
  baseUrl: string;
  model: string;
  /** The name of the environment variable with the key. */
  keyEnv?: string;
  /** For the first bytes and for each wait for the next ones, in milliseconds; default 60 s. */
  timeout?: number;
  /** For the whole answer, in milliseconds; default 10 minutes. */
  timeMax?: number;
  /** More fields of requests, such as `{ temperature: 0.2 }`. */
  options?: Record<string, unknown>;
  /** Allows requests without TLS to other machines. */
  allowHttp?: boolean;
}

/**
 * A model of a server that speaks OpenAI's `/chat/completions`: `ask` gives an answer piece by piece. ModelError if the
 * server refuses, fails or stops before the end.
 */
export class OpenAIModel {
  readonly baseUrl: string;
  readonly model: string;
  readonly keyEnv: string | undefined;
  readonly #timeout: number;
  readonly #timeMax: number;
  readonly #options: Record<string, unknown>;

  constructor({
    baseUrl,
    model,
    keyEnv,
    timeout = 60_000,
    timeMax = 600_000,
    options = {},
    allowHttp,
  }: OpenAIModelOptions) {
    let url: URL | undefined;
    try {
      url = new URL(baseUrl);
    } catch {
      // The text may have a secret, so that it is not repeated.
      throw new RangeError('baseUrl is not a URL');
    }
    if (url.username || url.password || url.search || url.hash)
      throw new RangeError('baseUrl has a user, a query or a fragment: keys go into the variable that keyEnv names');
    if (!['http:', 'https:'].includes(url.protocol))
      throw new RangeError('baseUrl does not begin with http:// or https://');
    if (url.protocol === 'http:' && !allowHttp && !isHere(url.hostname))
      throw new RangeError(`${url.hostname} is another machine: use https, or pass allowHttp: true`);
    if (keyEnv !== undefined && !NAME.test(keyEnv))
      throw new RangeError('keyEnv is the name of an environment variable in upper case, not the key');
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.model = model;
    this.keyEnv = keyEnv;
    this.#timeout = timeout;
    this.#timeMax = timeMax;
    this.#options = options;
  }

  /** The answer to messages, piece by piece. */
  async *ask(
    messages: readonly { role: string; content: string }[],
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<string, void, undefined> {
    const key = this.#key();
    const exchange = new Exchange(this, signal);
    try {
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        accept: 'text/event-stream, application/json',
      };
      if (key) headers['authorization'] = `Bearer ${key}`;
      const body = JSON.stringify({ ...this.#options, model: this.model, messages, stream: true });
      const answer = await exchange.wait(
        fetch(`${this.baseUrl}/chat/completions`, {
          method: 'POST',
          headers,
          body,
          redirect: 'manual',
          signal: exchange.signal,
        }),
      );
      if (answer.status !== 200) throw await this.#refusal(answer, exchange, key);
      const isStream = (answer.headers.get('content-type') ?? '').includes('text/event-stream');
      if (isStream) yield* this.#streamed(answer, exchange, key);
      else yield this.#text(await read(answer, exchange, LINE_BYTES_MAX, this.toString()), key, 'message').text;
    } finally {
      exchange.end();
    }
  }

  toString(): string {
    return `the model '${this.model}' at ${this.baseUrl}`;
  }

  /** Milliseconds for the first bytes and for each wait. */
  get timeout(): number {
    return this.#timeout;
  }

  /** Milliseconds for the whole answer. */
  get timeMax(): number {
    return this.#timeMax;
  }

  #key(): string {
    if (this.keyEnv === undefined) return '';
    const key = (process.env[this.keyEnv] ?? '').trim();
    if (!key) throw new ModelError(`the environment variable ${this.keyEnv} has no key for ${this}`);
    if (!/^[\x21-\x7e]+$/.test(key))
      throw new ModelError(`the environment variable ${this.keyEnv} has characters that no key has`);
    return key;
  }

  async #refusal(answer: Response, exchange: Exchange, key: string): Promise<ModelError> {
    const { status } = answer;
    if (status === 401 || status === 403) {
      // Servers repeat parts of a key.
      const what = this.keyEnv === undefined ? 'a request without a key (keyEnv)' : `the key in ${this.keyEnv}`;
      return new ModelError(`${this} refuses ${what} (HTTP ${status})`, status);
    }
    if (status >= 300 && status < 400)
      return new ModelError(`${this} redirects (HTTP ${status}): set baseUrl to where it is`, status);
    let words = await read(answer, exchange, REFUSAL_BYTES_MAX);
    try {
      words = wordsOf(JSON.parse(words)) || words;
    } catch {
      // It is no JSON: the words as they are.
    }
    return new ModelError(`${this} refuses (HTTP ${status}): ${shown(words, key)}`, status);
  }

  async *#streamed(answer: Response, exchange: Exchange, key: string): AsyncGenerator<string, void, undefined> {
    let data: string[] = [];
    let isEnded = false;
    for await (const line of lines(answer, exchange, this.toString())) {
      if (line.startsWith('data:')) {
        data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
        if (data.reduce((sum, part) => sum + part.length, 0) > LINE_BYTES_MAX) throw tooLong(this.toString());
      } else if (line === '' && data.length > 0) {
        const event = data.join('\n');
        data = [];
        if (event.trim() === '[DONE]') return;
        const { text, isLast } = this.#text(event, key, 'delta');
        isEnded ||= isLast;
        if (text) yield text;
      }
    }
    if (!isEnded) throw new ModelError(`${this}: its answer breaks off`);
  }

  /** The text of an answer or of a piece, and whether it is the last one. */
  #text(data: string, key: string, part: 'message' | 'delta'): { text: string; isLast: boolean } {
    let found: any;
    try {
      found = JSON.parse(data);
    } catch {
      throw new ModelError(`${this}: its answer is not JSON`);
    }
    if (found?.error) throw new ModelError(`${this} fails: ${shown(wordsOf(found), key)}`);
    const first = Array.isArray(found?.choices) ? found.choices[0] : undefined;
    return { text: joined(first?.[part]?.content), isLast: Boolean(first?.finish_reason) };
  }
}

/** A request under way: its time-outs, and the words for what ends it. */
class Exchange {
  readonly #controller = new AbortController();
  readonly #whole: NodeJS.Timeout;
  readonly #stop = (): void => this.#controller.abort();
  #why = '';

  constructor(
    private readonly model: OpenAIModel,
    private readonly outer: AbortSignal | undefined,
  ) {
    const abort = (): void => this.abort(`its answer takes more than ${model.timeMax / 1000} s`);
    this.#whole = setTimeout(abort, model.timeMax);
    if (outer?.aborted) this.#stop();
    outer?.addEventListener('abort', this.#stop);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** A promise with the time-out of a wait. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    const abort = (): void => this.abort(`it was silent for ${this.model.timeout / 1000} s`);
    const silent = setTimeout(abort, this.model.timeout);
    try {
      return await promise;
    } catch (error) {
      // Its text may repeat headers and lines of the server.
      const code: unknown = (error as { cause?: { code?: unknown } }).cause?.code;
      const reason = typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? ` (${code})` : '';
      const stopped = this.outer?.aborted
        ? 'it was stopped'
        : `it cannot be reached, or its answer breaks off${reason}`;
      throw new ModelError(`${this.model}: ${this.#why || stopped}`);
    } finally {
      clearTimeout(silent);
    }
  }

  end(): void {
    clearTimeout(this.#whole);
    this.outer?.removeEventListener('abort', this.#stop);
    this.#controller.abort();
  }

  private abort(why: string): void {
    this.#why ||= why;
    this.#controller.abort();
  }
}

/** The bytes of an answer as they come. */
async function* chunks(answer: Response, exchange: Exchange): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = answer.body?.getReader();
  while (reader) {
    const { done, value } = await exchange.wait(reader.read());
    if (done) return;
    yield value as Uint8Array;
  }
}

/** The text of an answer; with `name`, a ModelError for one that has more bytes, else its beginning. */
async function read(answer: Response, exchange: Exchange, bytesMax: number, name?: string): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks(answer, exchange)) {
    parts.push(chunk);
    size += chunk.length;
    if (size > bytesMax) break;
  }
  if (size > bytesMax && name !== undefined) throw tooLong(name);
  return Buffer.concat(parts).subarray(0, bytesMax).toString('utf8');
}

/** The lines of an answer, and an empty one at its end. */
async function* lines(answer: Response, exchange: Exchange, name: string): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks(answer, exchange)) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) yield part.replace(/\r$/, '');
    if (rest.length > LINE_BYTES_MAX) throw tooLong(name);
  }
  if (rest) yield rest.replace(/\r$/, '');
  yield '';
}

const tooLong = (name: string): ModelError =>
  new ModelError(`${name}: a piece of its answer has more than ${LINE_BYTES_MAX} bytes`);

/** The text of a content: a text, or a list of parts. */
function joined(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : '')).join('');
}

/** The words of a server's error. */
function wordsOf(found: { error?: unknown } | null): string {
  const error = found?.error ?? found;
  const words = typeof error === 'object' ? (error as { message?: unknown } | null)?.message : error;
  return typeof words === 'string' ? words : '';
}

/** A server's words: short, on one line, without the key. */
function shown(words: string, key: string): string {
  const without = key ? words.replaceAll(key, '[key]') : words;
  const line = without.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return line.slice(0, WORDS_CHARS_MAX) || 'it does not say why';
}

/** True if a host is this machine, without a name lookup. */
function isHere(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  if (net.isIPv6(address)) return LOOPBACK.check(address, 'ipv6');
  return net.isIPv4(address) ? LOOPBACK.check(address) : address.toLowerCase() === 'localhost';
}
