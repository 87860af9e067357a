import { readFileSync } from 'node:fs';
import { resolvePaths } from '../../../src-main/platform/paths.ts';
import { TestHub, type TestRepository } from '../../../src-main/testing/hub-server.ts';
import { randomModel, splitModel } from '../../../tools/random-model/random-model.ts';
import { filesOf } from '../../../src-main/models/registry/model-parts.ts';
import type { Suggestion } from '../../../src-main/models/sources/hub/starting-points.ts';

const { demoModel, startingPoints } = resolvePaths();

/** A local hub with every starting point, and a few repositories to search for. Small files stand in for the real ones. */
export function openHub(): Promise<TestHub> {
  const demo = readFileSync(demoModel);
  return TestHub.open({
    ...suggested(demo),
    'ada/Tiny-GGUF': repository({
      files: {
        'Tiny-Q4_K_M.gguf': demo,
        ...parts(randomModel({ arch: 'llama', layers: 2, seed: 7 }), 'Tiny-F16'),
        'mmproj-Tiny-F16.gguf': demo.subarray(0, 5000),
      },
      downloads: 48_210,
    }),
    'ada/Tiny-Gated-GGUF': repository({
      files: { 'Tiny-Gated-Q4_K_M.gguf': demo },
      gated: 'manual',
      tags: ['license:other'],
      downloads: 1290,
    }),
    'ada/Tiny-Reranker-GGUF': repository({
      files: { 'Tiny-Reranker-Q8_0.gguf': demo },
      task: 'text-ranking',
      downloads: 310,
    }),
  });
}

function suggested(bytes: Buffer): Record<string, TestRepository> {
  const { machines } = JSON.parse(readFileSync(startingPoints, 'utf8')) as {
    machines: { models: Suggestion[] }[];
  };
  const all = machines.flatMap(({ models }) => models);
  return Object.fromEntries(
    all.map(({ repository: id, quantization, role }) => {
      const name = id.split('/').at(-1)?.replace('-GGUF', '') ?? id;
      const task = role === 'embedding' ? 'sentence-similarity' : 'text-generation';
      return [id, repository({ files: { [`${name}-${quantization}.gguf`]: bytes }, task })];
    }),
  );
}

function repository(given: Partial<TestRepository> & Pick<TestRepository, 'files'>): TestRepository {
  return {
    ...{ task: 'text-generation', tags: ['license:apache-2.0'], downloads: 100 },
    gguf: { total: 4_022_468_096, architecture: 'qwen3' },
    ...given,
  };
}

/** A model in two files, under another name. */
function parts(model: string, name: string): Record<string, Buffer> {
  const first = splitModel(model, 2);
  return Object.fromEntries(
    filesOf(first).map((path) => [
      `${name}/${name}${path.slice(-'-00001-of-00002.gguf'.length)}`,
      readFileSync(path),
    ]),
  );
}
