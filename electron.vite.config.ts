import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type UserConfig } from 'electron-vite';
import { packageList, packageOf } from './tools/dist/packages.ts';

const root = import.meta.dirname;
const electron = join(root, 'src-main', 'hosts', 'electron');

/** Only the build knows which packages are bundled: it lists them in one file per bundle, and packaging collects their licences. */
const listPackages = (bundle: Parameters<typeof packageList>[1]) => ({
  name: 'kvasir-packages',
  closeBundle(this: { getModuleIds(): Iterable<string> }): void {
    const packages = new Set([...this.getModuleIds()].flatMap((module) => packageOf(module, root) ?? []));
    mkdirSync(dirname(packageList(root, bundle)), { recursive: true });
    writeFileSync(packageList(root, bundle), `${JSON.stringify([...packages].sort(), null, 1)}\n`);
  },
});

/** What pdf.js loads itself, when a document needs it: character maps, fonts and decoders; not its engine for documents' scripts. */
const copyPdfAssets = {
  name: 'kvasir-pdf-assets',
  closeBundle(): void {
    for (const folder of ['cmaps', 'standard_fonts', 'wasm']) {
      const from = join(root, 'node_modules', 'pdfjs-dist', folder);
      const filter = (path: string): boolean => !path.includes('quickjs');
      cpSync(from, join(root, 'out', 'renderer', 'pdfjs', folder), { recursive: true, filter });
    }
  },
};

const WORKER = "new URL('./worker.ts', import.meta.url)";

/** Bundles the modules that are started as processes, and puts their paths where the source names them. */
const bundleWorkers = {
  name: 'kvasir-workers',
  enforce: 'pre' as const, // the text is that of the source
  transform: {
    filter: { code: WORKER },
    handler(this: { emitFile(chunk: object): string }, code: string, module: string) {
      const folder = dirname(module);
      const worker = { type: 'chunk', id: join(folder, 'worker.ts'), name: `${basename(folder)}-worker` };
      return code.replace(WORKER, `import.meta.ROLLUP_FILE_URL_${this.emitFile(worker)}`);
    },
  },
  resolveFileUrl: ({ relativePath }: { relativePath: string }) =>
    `new URL('${relativePath}', import.meta.url)`,
};

/** `out/main` and `out/preload`: the program for Node (start) and for Electron. */
const program: UserConfig = {
  main: {
    plugins: [bundleWorkers, listPackages('main')],
    build: {
      sourcemap: true,
      rolldownOptions: {
        input: {
          start: join(root, 'src-main', 'hosts', 'start.ts'),
          ...Object.fromEntries(
            ['main', 'parser', 'query', 'trial', 'device-trial'].map((name) => [
              name,
              join(electron, `${name}.ts`),
            ]),
          ),
        },
        output: { sourcemapExcludeSources: true },
      },
    },
  },
  preload: {
    plugins: [listPackages('preload')],
    build: {
      // A sandboxed preload cannot load packages, and must be CommonJS.
      externalizeDeps: false,
      rolldownOptions: {
        input: { preload: join(electron, 'preload.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
};

/** `out/renderer`: the window. */
const window: UserConfig = {
  renderer: {
    root: join(root, 'src-renderer'),
    plugins: [react(), listPackages('renderer'), copyPdfAssets],
    // ES modules, because the worker loads parts on demand.
    worker: { format: 'es', plugins: () => [listPackages('worker')] },
    build: {
      outDir: join(root, 'out', 'renderer'),
      minify: true,
      // The page's content security policy allows fonts from files only.
      assetsInlineLimit: 0,
      rolldownOptions: { input: join(root, 'src-renderer', 'index.html') },
    },
  },
};

/** Setup builds the two parts apart, each when its sources have changed: `--mode program` and `--mode window`. */
export default defineConfig(({ mode }) => (mode === 'window' ? window : program));
