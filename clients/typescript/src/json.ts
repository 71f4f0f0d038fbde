// JSON in which integers keep every digit: those that a number cannot hold are bigints, both ways.
//
// JSON.parse does the work. What it would round is put between quotes first, behind a mark that nobody can guess, and
// made a bigint afterwards; so is what JSON.stringify cannot write.

import { randomUUID } from 'node:crypto';

import type { Json, JsonObject } from './types';

// A string, which is passed over, or a number.
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function parse(text: string): Json {
  // What is no JSON is told here; below, every string has an end.
  const value = JSON.parse(text) as Json;
  if (!/\d{16}/.test(text)) return value;
  const mark = randomUUID();
  const isInteger = /^-?\d+$/;
  const marked = text.replace(TOKENS, (token) =>
    isInteger.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  ) as Json;
}

/** An object; an empty text is an empty one. */
export function parseObject(text: string): JsonObject {
  const value = text === '' ? {} : parse(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new SyntaxError('it is no object');
  return value;
}

/** JSON; what it has not, such as NaN, is refused. */
export function stringify(value: Json): string {
  const mark = randomUUID();
  const text = JSON.stringify(value, (key, one: unknown) => {
    if (typeof one === 'number' && !Number.isFinite(one)) throw new RangeError(`${key}: ${one} is not in JSON`);
    return typeof one === 'bigint' ? `${mark}${one}` : one;
  });
  return text.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}
