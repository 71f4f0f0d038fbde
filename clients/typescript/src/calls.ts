// The base of every call to a brain: its name, the agent, and the newest LSN seen.

import { newRequestId, type Caller } from './call';
import { given } from './convert';
import type { WriteOptions } from './types';
import type { Message, Reply } from './wire';

/** Rows per page of a listing. */
const PAGE = 1000;

/** A brain of a daemon, called by the names of the RPCs. */
export class Calls {
  /** The newest commit that an answer to this object named. */
  lsn: bigint;
  /** The instance that answered last: a brain removed and created again under its name is another instance. */
  instance: string;
  /** The file, on the daemon's machine. */
  readonly file: string;
  /** True if the caller may read the file itself, as Reader does. */
  readonly directRead: boolean;
  readonly dimension: number;

  constructor(
    protected readonly caller: Caller,
    readonly name: string,
    readonly agent: string,
    opened: Reply,
  ) {
    this.lsn = BigInt(opened.moment.lsn);
    this.instance = opened.moment.instance;
    this.file = opened.path;
    this.directRead = opened.direct_read;
    this.dimension = opened.info.dimension;
  }

  private saw(state: Reply): void {
    const lsn = BigInt(state.lsn);
    if (lsn > this.lsn || state.instance !== this.instance) this.lsn = lsn;
    this.instance = state.instance;
  }

  protected async ask(name: string, fields: Message = {}): Promise<Reply> {
    const answer = await this.caller.call(name, { brain: this.name, ...given(fields) });
    this.saw(answer.moment);
    return answer;
  }

  protected async write(name: string, { requestId, onlyIf }: WriteOptions, fields: Message = {}): Promise<Reply> {
    const options = given({
      agent: this.agent,
      request_id: requestId ?? newRequestId(),
      expected_lsn: onlyIf?.lsn === undefined ? undefined : String(onlyIf.lsn),
      expected_head: onlyIf?.head && { event_id: onlyIf.head[0], head_id: onlyIf.head[1] },
    });
    const answer = await this.caller.call(name, { brain: this.name, options, ...given(fields) });
    this.saw(answer.commit);
    return answer;
  }

  protected async pages<T>(
    name: string,
    limit: number | null,
    rows: (page: Reply) => T[],
    fields: Message,
  ): Promise<T[]> {
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
}
