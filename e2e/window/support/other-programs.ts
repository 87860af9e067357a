import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { filesOf } from '../../../src-main/models/registry/model-parts.ts';

/** Creates the folders of other apps in a home folder, with the given GGUF files. */
export class OtherPrograms {
  readonly home: string;

  constructor(home: string) {
    this.home = home;
  }

  /** models/publisher/model/file.gguf; for split models all files, or those that `keep` accepts. */
  lmStudio(
    repository: string,
    model: string,
    name: string,
    keep: (path: string) => boolean = () => true,
  ): void {
    const folder = join(this.home, '.lmstudio', 'models', ...repository.split('/'));
    mkdirSync(folder, { recursive: true });
    const stem = model.replace(/(-\d{5}-of-\d{5})?\.gguf$/, '');
    for (const file of filesOf(model)) {
      const target = join(folder, `${name}${file.slice(stem.length)}`);
      if (keep(target)) copyFileSync(file, target);
    }
  }

  /** A manifest, and blobs named by their checksum. */
  ollama(name: string, tag: string, model: string): void {
    const store = join(this.home, '.ollama', 'models');
    const blob = (bytes: Buffer, mediaType: string) => {
      const hex = createHash('sha256').update(bytes).digest('hex');
      const path = join(store, 'blobs', `sha256-${hex}`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
      return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
      config: blob(Buffer.from('{"model_format":"gguf"}'), 'application/vnd.docker.container.image.v1+json'),
      layers: [
        blob(readFileSync(model), 'application/vnd.ollama.image.model'),
        blob(Buffer.from('{{ .Prompt }}'), 'application/vnd.ollama.image.template'),
      ],
    };
    const path = join(store, 'manifests', 'registry.ollama.ai', 'library', name, tag);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(manifest));
  }

  /** A snapshot's link to the blobs. */
  huggingFace(repository: string, name: string, model: string): void {
    const folder = join(
      this.home,
      '.cache',
      'huggingface',
      'hub',
      `models--${repository.replace('/', '--')}`,
    );
    const hex = createHash('sha256').update(readFileSync(model)).digest('hex');
    mkdirSync(join(folder, 'blobs'), { recursive: true });
    mkdirSync(join(folder, 'snapshots', 'c0ffee'), { recursive: true });
    copyFileSync(model, join(folder, 'blobs', hex));
    symlinkSync(join('..', '..', 'blobs', hex), join(folder, 'snapshots', 'c0ffee', name));
  }

  /** The first half of a file, like an interrupted download. */
  gpt4allBroken(name: string, model: string): void {
    const folder = join(this.home, '.local', 'share', 'nomic.ai', 'GPT4All');
    mkdirSync(folder, { recursive: true });
    const bytes = readFileSync(model);
    writeFileSync(join(folder, name), bytes.subarray(0, bytes.length / 2));
  }
}

/** Changes if a file's contents or modification time change. */
export function stateOf(path: string): string {
  const bytes = createHash('sha256').update(readFileSync(path)).digest('hex');
  return `${basename(path)} ${bytes} ${statSync(path).mtimeMs}`;
}
