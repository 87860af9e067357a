import { ownValue } from '../../../src-shared/own-value.ts';
import { asNumber, asText, compare, contains, equal, type Value } from './values.ts';

type Test = (value: Value, argument: Value) => boolean;

/** The tests of `is`, `select` and `reject`. */
const TESTS: Record<string, Test> = {
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  none: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  true: (value) => value === true,
  false: (value) => value === false,
  number: (value) => typeof value === 'number' || typeof value === 'boolean',
  integer: (value) => Number.isInteger(value),
  float: (value) => typeof value === 'number' && !Number.isInteger(value),
  string: (value) => typeof value === 'string',
  mapping: (value) => value instanceof Map,
  sequence: isIterable,
  iterable: isIterable,
  callable: (value) => typeof value === 'function',
  lower: (value) =>
    typeof value === 'string' && value !== value.toUpperCase() && value === value.toLowerCase(),
  upper: (value) =>
    typeof value === 'string' && value !== value.toLowerCase() && value === value.toUpperCase(),
  odd: (value) => Math.abs(asNumber(value) % 2) === 1,
  even: (value) => asNumber(value) % 2 === 0,
  divisibleby: (value, by) => asNumber(value) % asNumber(by) === 0,
  in: (value, container) => contains(container, value),
  sameas: (value, other) => value === other,
  eq: equal,
  ne: (a, b) => !equal(a, b),
  lt: (a, b) => compare(a, b) < 0,
  le: (a, b) => compare(a, b) <= 0,
  gt: (a, b) => compare(a, b) > 0,
  ge: (a, b) => compare(a, b) >= 0,
};

const OTHER_NAMES: Record<string, string> = {
  ...{ '==': 'eq', equalto: 'eq', '!=': 'ne' },
  ...{ '<': 'lt', lessthan: 'lt', '<=': 'le', '>': 'gt', greaterthan: 'gt', '>=': 'ge' },
};

/** Throws where there is no test of that name. */
export function test(name: Value, value: Value, argument?: Value): boolean {
  const found = ownValue(TESTS, ownValue(OTHER_NAMES, asText(name)) ?? asText(name));
  if (!found) throw new Error(`No test named ${asText(name)}`);
  return found(value, argument);
}

/** jinja2's undefined value is one. */
function isIterable(value: Value): boolean {
  if (value === undefined || typeof value === 'string') return true;
  return Array.isArray(value) || value instanceof Map;
}
