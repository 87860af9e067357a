/**
 * Permitted imports between layers. This table is the architecture; the lint rule in import-direction.mjs enforces it.
 *
 * @typedef {object} Layer
 * @property {string} path folder or file, relative to the project's root
 * @property {string[]} imports the other layers it may import; its own files always may
 * @property {string[]} [packages] the only npm packages it may import; default: any
 * @property {boolean} [builtins] false: no node: modules
 */

const FOUNDATION = ['src-shared', 'src-main/platform', 'src-main/engine', 'src-main/kvstore'];
const SERVICES = [
  ...['devices', 'fusion', 'catalogue', 'models', 'retrieval', 'library', 'answering', 'tools'],
  ...['chat', 'analysis', 'completions', 'cache', 'backup', 'export', 'sharing'],
].map((name) => `src-main/${name}`);
const CORE = [
  ...FOUNDATION,
  ...SERVICES,
  'src-main/databases.ts',
  'src-main/app.ts',
  'src-main/api',
  'src-main/testing',
];
/** The part of the core that hosts may import: the composed app, its services and the platform, but neither engine nor store. */
const BELOW_HOSTS = ['src-shared', 'src-main/platform', ...SERVICES, 'src-main/app.ts', 'src-main/api'];

/** @param {string} name */
function inCore(name) {
  return `src-main/${name}`;
}

const BELOW_FEATURES = [
  'src-shared',
  ...['i18n', 'client', 'ui', 'viz'].map((name) => `src-renderer/${name}`),
];
const FEATURES = [
  'analysis',
  'chat',
  'library',
  'search',
  'cache',
  'models',
  'settings',
  'fusion',
  'welcome',
].map((name) => `src-renderer/features/${name}`);

/** @type {Layer[]} */
export const LAYERS = [
  { path: 'src-shared', imports: [], packages: ['zod'], builtins: false },

  { path: 'src-main/platform', imports: ['src-shared'] },
  { path: 'src-main/engine', imports: ['src-shared', 'src-main/platform'] },
  { path: 'src-main/kvstore', imports: ['src-shared', 'src-main/platform', 'src-main/engine'] },

  { path: 'src-main/devices', imports: ['src-shared', 'src-main/platform', 'src-main/engine'] },

  { path: 'src-main/fusion', imports: FOUNDATION },
  { path: 'src-main/catalogue', imports: FOUNDATION },
  { path: 'src-main/models', imports: [...FOUNDATION, 'src-main/devices'] },
  { path: 'src-main/retrieval', imports: [...FOUNDATION, 'src-main/catalogue', 'src-main/models'] },
  {
    path: 'src-main/library',
    imports: [...FOUNDATION, ...['fusion', 'catalogue', 'models', 'retrieval'].map(inCore)],
  },
  {
    path: 'src-main/answering',
    imports: [...FOUNDATION, ...['fusion', 'catalogue', 'models', 'retrieval'].map(inCore)],
  },
  // What models of conversations may call.
  {
    path: 'src-main/tools',
    imports: [...FOUNDATION, ...['catalogue', 'retrieval', 'answering'].map(inCore)],
  },
  {
    path: 'src-main/chat',
    imports: [...FOUNDATION, ...['fusion', 'models', 'retrieval', 'answering', 'tools'].map(inCore)],
  },
  {
    path: 'src-main/analysis',
    imports: [...FOUNDATION, ...['fusion', 'catalogue', 'retrieval', 'answering'].map(inCore)],
  },
  {
    path: 'src-main/completions',
    imports: [...FOUNDATION, ...['fusion', 'models', 'retrieval', 'answering'].map(inCore)],
  },
  {
    path: 'src-main/cache',
    imports: [...FOUNDATION, ...['fusion', 'catalogue', 'models'].map(inCore)],
  },
  { path: 'src-main/backup', imports: FOUNDATION },
  // Everything that people wrote, from the services that keep it.
  {
    path: 'src-main/export',
    imports: [...FOUNDATION, ...['catalogue', 'models', 'library', 'chat', 'analysis'].map(inCore)],
  },
  { path: 'src-main/sharing', imports: ['src-shared', 'src-main/platform', 'src-main/kvstore'] },
  // Test doubles; only tests import them.
  { path: 'src-main/testing', imports: [...FOUNDATION, ...SERVICES] },

  { path: 'src-main/profile.ts', imports: [...FOUNDATION, ...SERVICES] },
  // Which migrations create which database.
  { path: 'src-main/databases.ts', imports: [...FOUNDATION, ...SERVICES] },
  { path: 'src-main/leftovers.ts', imports: [...FOUNDATION, inCore('backup')] },
  // Constructs the services; app.ts lists the groups.
  { path: 'src-main/composition', imports: [...FOUNDATION, ...SERVICES, inCore('databases.ts')] },
  {
    path: 'src-main/app.ts',
    imports: [
      ...FOUNDATION,
      ...SERVICES,
      ...['composition', 'databases.ts', 'leftovers.ts', 'profile.ts'].map(inCore),
    ],
  },
  // Maps the contract's procedures to the services.
  {
    path: 'src-main/api',
    imports: ['src-shared', 'src-main/platform', ...SERVICES, 'src-main/app.ts', 'src-main/profile.ts'],
  },
  // Shared by both window hosts; neither imports the other.
  { path: 'src-main/hosts/window', imports: BELOW_HOSTS },
  { path: 'src-main/hosts/mcp', imports: BELOW_HOSTS },
  // The window for browsers, and the same core for other programs.
  {
    path: 'src-main/hosts/http',
    imports: [...BELOW_HOSTS, 'src-main/hosts/window', 'src-main/hosts/mcp'],
  },
  // The contract's typed client.
  {
    path: 'src-main/hosts/client',
    imports: [
      ...BELOW_HOSTS,
      'src-main/profile.ts',
      ...['window', 'http', 'mcp'].map((name) => `src-main/hosts/${name}`),
    ],
  },
  {
    path: 'src-main/hosts/command-line',
    imports: [...BELOW_HOSTS, ...['window', 'http', 'client'].map((name) => `src-main/hosts/${name}`)],
  },
  {
    path: 'src-main/hosts/electron',
    imports: [...BELOW_HOSTS, ...['window', 'client'].map((name) => `src-main/hosts/${name}`)],
  },
  {
    path: 'src-main/hosts/start.ts',
    imports: [...BELOW_HOSTS, 'src-main/hosts/window', 'src-main/hosts/command-line'],
  },

  // The window: features never import one another; shared code is in ui/, viz/ or client/.
  { path: 'src-renderer/i18n', imports: ['src-shared'], builtins: false },
  { path: 'src-renderer/client', imports: ['src-shared', 'src-renderer/i18n'], builtins: false },
  {
    path: 'src-renderer/ui',
    imports: ['src-shared', 'src-renderer/i18n', 'src-renderer/client'],
    builtins: false,
  },
  {
    path: 'src-renderer/viz',
    imports: ['src-shared', 'src-renderer/i18n', 'src-renderer/ui'],
    builtins: false,
  },
  ...FEATURES.map((path) => ({ path, imports: BELOW_FEATURES, builtins: false })),
  { path: 'src-renderer', imports: [...BELOW_FEATURES, ...FEATURES], builtins: false },

  // Fuzzing sends messages to the servers.
  { path: 'tools', imports: [...CORE, 'src-main/hosts/http', 'src-main/hosts/mcp'] },
  // Benches use the command line's texts and tables.
  { path: 'bench', imports: [...CORE, 'src-main/hosts/command-line', 'tools', 'e2e'] },
  // The bundle for Electron runs on the Electron double that its host's tests use.
  {
    path: 'e2e',
    imports: [
      ...CORE,
      'src-main/leftovers.ts',
      'src-main/hosts/electron',
      'src-main/hosts/client',
      'src-main/hosts/command-line',
      'src-main/profile.ts',
      'src-renderer/i18n',
      'tools',
    ],
  },
];

/** Any test in any folder may import this. */
export const TESTING = 'src-main/testing';

/** Files that only their own folder may import. */
export const PRIVATE_FILES = [
  { path: 'src-main/engine/native.ts', owner: 'src-main/engine', instead: 'src-main/engine/engine.ts' },
];

/** Packages that only one folder may import. */
export const PRIVATE_PACKAGES = [{ name: 'electron', owner: 'src-main/hosts/electron' }];
