import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long for their size, the longest first. A worker that began one last would run it alone. */
const SLOW = [
  'e2e/deleting',
  'e2e/drives',
  'e2e/guests',
  'e2e/faults',
  'e2e/packed',
  'e2e/parity',
  'e2e/cli-demo',
  'e2e/shared-tier',
];

/** Orders test files by their time in earlier runs; without one, those that are known to be slow first, then by size. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = SLOW.findIndex((name) => moduleId.includes(`/${name}.test.`));
      return place < 0 ? SLOW.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
