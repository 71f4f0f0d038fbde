// A reader that follows a file, and prints what it reads.
//
//     node dist/test/follow.js PATH
//
// Prints a line of JSON at its start, and one after each line of input: LSN, whether the file is live, what is torn, and
// every event's text and attributes; or the error of a failed refresh.

import * as readline from 'node:readline';

import { Reader } from '../src/reader';

function told(reader: Reader): object {
  try {
    reader.refresh();
  } catch (why) {
    return { failed: String(why) };
  }
  const events = [...reader.events()].map((event) => [event.text, event.attributes]);
  return { lsn: Number(reader.lsn), live: reader.isLive, torn: reader.torn ?? null, events };
}

const reader = new Reader(process.argv[2] as string);
const plain = (_: string, one: unknown): unknown => (typeof one === 'bigint' ? Number(one) : one);
const say = (): void => console.log(JSON.stringify(told(reader), plain));
say();
readline.createInterface({ input: process.stdin }).on('line', say).on('close', () => reader.close());
