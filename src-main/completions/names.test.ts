import { expect, test } from 'vitest';
import { requireInUse } from './names.ts';

test('a model with an adapter is found by the name in the list, and by its full name', () => {
  const active = { name: 'Small + medicine' };
  const entries = [
    { name: 'Small', role: 'chat' as const, active: true },
    { name: 'Large', role: 'chat' as const, active: false },
    { name: 'Words', role: 'embedding' as const, active: true },
  ];
  for (const name of ['Small', 'Small + medicine'])
    expect(requireInUse(name, active, () => entries)).toBe(active);
  for (const name of ['Large', 'Words', 'Other'])
    expect(() => requireInUse(name, active, () => entries)).toThrow(JSON.stringify(name));
  expect(() => requireInUse('Small', undefined, () => entries)).toThrow(/not the one that answers/);
});
