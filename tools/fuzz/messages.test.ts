import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { keepInput, keptInputs, outcome, search } from './search.ts';
import { TARGETS } from './targets/targets.ts';

/** `npm run fuzz` sets both; `npm test` runs few inputs, `npm run test:full` a minute of each target. */
const SECONDS = Number(process.env['KVASIR_FUZZ_SECONDS'] ?? (process.env['KVASIR_FULL'] === '1' ? 60 : 0));
const SEED = Number(process.env['KVASIR_FUZZ_SEED'] ?? 1);

test.each(Object.entries(TARGETS))(
  'mutated inputs: %s',
  async (name, open) => {
    const target = await open();
    const { findings, ends } = await search(target, { seconds: SECONDS, seed: SEED });
    if (SECONDS > 0) {
      console.log(`${name}: ${JSON.stringify(ends)}`);
      for (const { input, why } of findings)
        console.log(`${why}\nKept as ${relative(process.cwd(), keepInput(name, input))}.`);
    }
    expect(findings).toEqual([]);
    expect(Object.keys(ends)).toEqual(expect.arrayContaining([...target.reaches]));
  },
  SECONDS * 2000 + 120_000,
);

test.each(Object.entries(TARGETS).filter(([name]) => keptInputs(name).length > 0))(
  'inputs that once broke a rule do not any more: %s',
  async (name, open) => {
    const target = await open();
    for (const input of keptInputs(name)) expect(await outcome(target, input)).not.toHaveProperty('why');
  },
);
