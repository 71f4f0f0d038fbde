// Compares results with the expectations of the conformance list.

/** A value of JSON; integers may be bigints. */
export type Plain = null | boolean | number | bigint | string | Plain[] | { [name: string]: Plain };

/** A result differs from the expected one. */
export class Mismatch extends Error {}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function shown(value: unknown): string {
  return (
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one))?.slice(0, 600) ?? 'nothing'
  );
}

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';

/** True if two values that are neither lists nor objects are the same; a number and a bigint are if they are equal. */
function same(found: Plain, expected: Plain): boolean {
  return isNumber(found) && isNumber(expected) ? found == expected : found === expected;
}

/** Objects must have the expected fields, lists the same length, numbers must be equal. */
export function compare(found: Plain, expected: Plain, path = 'it'): void {
  const fail = (why: string): never => {
    throw new Mismatch(`${path} is ${shown(found)}, ${why}`);
  };
  if (Array.isArray(expected)) {
    if (!Array.isArray(found) || found.length !== expected.length) return fail(`not a list of ${expected.length}`);
    for (const [place, wanted] of expected.entries()) compare(found[place] as Plain, wanted, `${path}[${place}]`);
    return;
  }
  if (expected === null || typeof expected !== 'object') {
    if (!same(found, expected)) fail(`not ${shown(expected)}`);
    return;
  }
  const special = Object.keys(expected).find((key) => key.startsWith('$'));
  if (special !== undefined) {
    if (!holds(found, special, expected[special] as Plain)) fail(`not ${shown(expected)}`);
    return;
  }
  if (found === null || typeof found !== 'object' || Array.isArray(found)) return fail('no object');
  for (const [key, wanted] of Object.entries(expected)) {
    if (!(key in found)) fail(`without ${key}`);
    compare(found[key] as Plain, wanted, `${path}.${key}`);
  }
}

function fits(found: Plain, expected: Plain): boolean {
  try {
    compare(found, expected);
    return true;
  } catch (why) {
    if (why instanceof Mismatch) return false;
    throw why;
  }
}

/** True if a result meets a condition. */
function holds(found: Plain, condition: string, value: Plain): boolean {
  switch (condition) {
    case '$near':
      return isNumber(found) && Math.abs(Number(found) - Number(value)) < 1e-5;
    case '$above':
      return isNumber(found) && Number(found) > Number(value);
    case '$below':
      return isNumber(found) && Number(found) < Number(value);
    case '$len':
      return Array.isArray(found) && found.length === Number(value);
    case '$text':
      return typeof found === 'string' && found.includes(value as string);
    case '$has':
      return Array.isArray(found) && (value as Plain[]).every((wanted) => found.some((one) => fits(one, wanted)));
    default:
      throw new Error(`the list has a condition ${condition}, which nobody knows`);
  }
}
