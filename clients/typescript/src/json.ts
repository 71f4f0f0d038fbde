// JSON in which integers keep every digit: those that a number cannot hold are bigints, both ways.
//
// JSON.parse does the work. Numbers that it would round are first quoted behind an unguessable mark, and converted to
// bigints afterwards; so are those that JSON.stringify cannot write.

import { randomUUID } from 'node:crypto';

import type { Json, JsonObject } from './types';

// A string, which is skipped, or a number.
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function parse(text: string): Json {
  // Rejects invalid JSON; below, every string has an end.
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

/** Parses an object; an empty text is an empty object. */
export function parseObject(text: string): JsonObject {
  const value = text === '' ? {} : parse(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new SyntaxError('not an object');
  return value;
}

/** Writes JSON; RangeError for values that it cannot express, such as NaN. */
export function stringify(value: Json): string {
  const mark = randomUUID();
  const text = JSON.stringify(value, (key, one: unknown) => {
    if (typeof one === 'number' && !Number.isFinite(one)) throw new RangeError(`${key}: ${one} is not in JSON`);
    return typeof one === 'bigint' ? `${mark}${one}` : one;
  });
  return text.replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}
