import { join } from 'node:path';
import { MIGRATIONS } from '../../../src-main/fusion/watching/schema.ts';
import { WatchTable } from '../../../src-main/fusion/watching/watch-table.ts';
import { ModelRegistry } from '../../../src-main/models/registry/model-registry.ts';
import { openDatabase } from '../../../src-main/platform/database.ts';

interface WatchFixture {
  libraryId: string;
  /** KL of each answer. */
  before: readonly number[];
  /** The least ratio that the comparisons led to, and the KL of answers compared since. */
  leastRatio?: number;
  since?: readonly number[];
}

/** Writes compared answers, as idle time would, for the demo model, into its data. */
export function writeWatched(dataDir: string, all: readonly WatchFixture[]): void {
  const registry = new ModelRegistry(join(dataDir, 'models.sqlite'));
  const fingerprint = registry.get('demo')?.fingerprint ?? '';
  registry.close();
  const subject = { modelId: 'demo', fingerprint };
  const table = new WatchTable(openDatabase(join(dataDir, 'watching.sqlite'), MIGRATIONS));
  const write = (libraryId: string, kls: readonly number[], ratio: number): void =>
    kls.forEach((kl, i) => {
      const measuredMs = Date.now() - (kls.length - i) * 3_600_000;
      table.draw(`${libraryId} ${ratio} ${i}`, subject, [libraryId], measuredMs);
      const { id } = table.next(subject, 0) ?? { id: -1 };
      const differs = kl > 0.1;
      const rest = { agreement: differs ? 0.75 : 1, ratio };
      table.save(id, { measuredMs, kl, ...rest });
    });
  for (const { libraryId, before, leastRatio, since = [] } of all) {
    write(libraryId, before, 0.15);
    if (leastRatio !== undefined) table.setLimit(subject, libraryId, leastRatio);
    write(libraryId, since, leastRatio ?? 0.15);
  }
  table.close();
}
