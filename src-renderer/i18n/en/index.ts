/** One file per feature; the type checker requires the same keys in zh/. */
export { analysis } from './analysis.ts';
export { cache } from './cache.ts';
export { chat } from './chat.ts';
export { common } from './common.ts';
export { compare } from './compare.ts';
export { found } from './found.ts';
export { fusion } from './fusion.ts';
export { hub } from './hub.ts';
export { library } from './library.ts';
export { models } from './models.ts';
export { search } from './search.ts';
export { servers } from './servers.ts';
export { settings } from './settings.ts';
export { sharing } from './sharing.ts';
export { stages } from './stages.ts';
export { strategies } from './strategies.ts';
export { welcome } from './welcome.ts';
