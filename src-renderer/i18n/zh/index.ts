import type { en, Words } from '../words.ts';
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
import { mcp } from './mcp.ts';
import { models } from './models.ts';
import { servers } from './servers.ts';
import { settings } from './settings.ts';
import { sharing } from './sharing.ts';
import { stages } from './stages.ts';
import { strategies } from './strategies.ts';
import { welcome } from './welcome.ts';

export const zh: Words<typeof en> = {
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
  mcp,
  models,
  servers,
  settings,
  sharing,
  stages,
  strategies,
  welcome,
};
