import { ownValue } from '../../../src-shared/own-value.ts';
import { DICT_METHODS, LIST_METHODS, STRING_METHODS } from './methods.ts';
import { Namespace, textOf, type Callable, type Value } from './values.ts';

/** `value.name`: a method, else an item. jinja2's undefined value has no attributes; others have undefined ones. */
export function attributeOf(value: Value, name: string | number): Value {
  if (typeof name === 'number') return itemOf(value, name);
  const found = methodOf(value, name);
  return found === undefined && value instanceof Map ? value.get(name) : found;
}

/** `value[key]`: an item, else a method. */
export function itemOf(value: Value, key: Value): Value {
  if (value instanceof Map && value.has(key)) return value.get(key);
  if (typeof key === 'number') {
    if (typeof value === 'string') return Array.from(key >= 0 ? value.slice(0, 2 * key + 2) : value).at(key);
    return Array.isArray(value) ? value.at(key) : methodOf(value, '');
  }
  return methodOf(value, textOf(key));
}

function methodOf(value: Value, name: string): Value {
  if (value === undefined) throw new Error(`an undefined value has no attribute ${name}`);
  if (value instanceof Namespace) return value.attributes.get(name);
  const bound = <T>(
    methods: Record<string, (self: T, args: never) => Value>,
    self: T,
  ): Callable | undefined => {
    const method = ownValue(methods, name);
    return method && ((args) => method(self, args as never));
  };
  if (typeof value === 'string') return bound(STRING_METHODS, value);
  if (Array.isArray(value)) return bound(LIST_METHODS, value);
  return value instanceof Map ? bound(DICT_METHODS, value) : undefined;
}
