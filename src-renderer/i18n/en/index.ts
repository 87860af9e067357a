import { analysis } from './analysis.ts';
import { chat } from './chat.ts';
import { common } from './common.ts';
import { compare } from './compare.ts';
import { search } from './search.ts';
import { found } from './found.ts';
import { fusion } from './fusion.ts';
import { hub } from './hub.ts';
import { library } from './library.ts';
import { cache } from './cache.ts';
import { models } from './models.ts';
import { servers } from './servers.ts';
import { settings } from './settings.ts';
import { sharing } from './sharing.ts';
import { stages } from './stages.ts';
import { strategies } from './strategies.ts';
import { welcome } from './welcome.ts';

/** One file per feature; the type checker requires the same keys in zh/. */
export const en = {
  analysis,
  chat,
  common,
  compare,
  found,
  fusion,
  hub,
  search,
  library,
  cache,
  models,
  servers,
  settings,
  sharing,
  stages,
  strategies,
  welcome,
};

/** The same keys with other texts, for a language without a singular: Chinese has only the plural form `_other`. */
export type Words<T> = {
  readonly [K in keyof T as K extends `${string}_one` ? never : K]: T[K] extends string
    ? string
    : Words<T[K]>;
};
