import { basename } from 'node:path';
import { MIGRATIONS as analyses } from './analysis/schema.ts';
import type { Schemas } from './backup/manifest.ts';
import { MIGRATIONS as catalogue } from './catalogue/schema.ts';
import { MIGRATIONS as conversations } from './chat/schema.ts';
import { MIGRATIONS as watching } from './fusion/watching/schema.ts';
import { MIGRATIONS as models } from './models/registry/model-registry.ts';
import type { QuarantinedDatabase } from './platform/database.ts';
import type { Failure } from '../src-shared/contract/common.ts';

/** The databases of a data folder. */
export const SCHEMAS: Schemas = {
  'catalogue.sqlite': catalogue,
  'conversations.sqlite': conversations,
  'analyses.sqlite': analyses,
  'watching.sqlite': watching,
  'models.sqlite': models,
};

const HOLDS: Record<string, string> = {
  'catalogue.sqlite': 'libraries',
  'conversations.sqlite': 'conversations',
  'analyses.sqlite': 'analyses',
  'watching.sqlite': 'comparisons of answers',
  'models.sqlite': 'list of models',
};

/** The notice for a database that could not be read. */
export function setAsideFailure({ path, keptAs }: QuarantinedDatabase): Failure {
  return {
    code: 'STORE_CORRUPT',
    message: `The ${holds(path)} could not be read because their file is damaged. It was kept as ${keptAs}.`,
    advice: 'Restore a backup to get an earlier version back.',
  };
}

/** The notice after an update that cuts documents differently. */
export const RECUT: Failure = {
  code: 'DOCUMENTS_RECUT',
  message:
    'This version of Kvasir reads documents differently, so it processes them again in the background.',
  advice: 'You can ask questions meanwhile. The Library screen shows the progress.',
};

/** The notice for a database found damaged while in use. */
export function damagedFailure(path: string): Failure {
  return {
    code: 'STORE_CORRUPT',
    message: `The file of your ${holds(path)}, ${path}, is damaged.`,
    advice: 'Restart Kvasir, which sets the file aside and opens the rest; then restore a backup.',
  };
}

function holds(path: string): string {
  return HOLDS[basename(path)] ?? 'data';
}
