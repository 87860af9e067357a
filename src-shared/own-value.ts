/** The value under a key that comes from outside: `table[key]` also finds what every object has, such as "constructor". */
export function ownValue<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
