import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';

const root = import.meta.dirname;
const electron = join(root, 'src-main', 'hosts', 'electron');

/** Builds `out/main`, `out/preload` and `out/renderer`; the headless host serves the last from source, without the others. */
export default defineConfig({
  main: {
    build: {
      rolldownOptions: {
        input: Object.fromEntries(
          ['main', 'parser', 'trial'].map((name) => [name, join(electron, `${name}.ts`)]),
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
    plugins: [react()],
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
