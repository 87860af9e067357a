import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';
import { packageOf } from './tools/dist/packages.ts';

const root = import.meta.dirname;
const electron = join(root, 'src-main', 'hosts', 'electron');

/** The window's packages are bundled, so that only its build knows them: their licences are packed with it. */
const listPackages = {
  name: 'kvasir-packages',
  closeBundle(this: { getModuleIds(): Iterable<string> }): void {
    const packages = new Set([...this.getModuleIds()].flatMap((module) => packageOf(module, root) ?? []));
    writeFileSync(
      join(root, 'out', 'renderer-packages.json'),
      `${JSON.stringify([...packages].sort(), null, 1)}\n`,
    );
  },
};

/** Builds `out/main`, `out/preload` and `out/renderer`; the headless host serves the last from source, without the others. */
export default defineConfig({
  main: {
    build: {
      rolldownOptions: {
        input: Object.fromEntries(
          ['main', 'parser', 'trial', 'device-trial'].map((name) => [name, join(electron, `${name}.ts`)]),
        ),
      },
    },
  },
  preload: {
    build: {
      // A sandboxed preload cannot load packages, and must be CommonJS.
      externalizeDeps: false,
      rolldownOptions: {
        input: { preload: join(electron, 'preload.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: join(root, 'src-renderer'),
    plugins: [react(), listPackages],
    // A worker that loads its parts when it needs them.
    worker: { format: 'es' },
    build: {
      outDir: join(root, 'out', 'renderer'),
      minify: true,
      // The page's policy takes fonts from files only.
      assetsInlineLimit: 0,
      rolldownOptions: { input: join(root, 'src-renderer', 'index.html') },
    },
  },
});
