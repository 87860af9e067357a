/** Coverage-guided fuzzing of native parsers (native/fuzz). */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { randomModel } from '../random-model/random-model.ts';
import { sanitizedBuild } from '../sanitized-build.ts';
import { ROOT } from '../setup/platform.mjs';

export const NATIVE_TARGETS = ['gguf', 'chunk'] as const;
export type NativeTarget = (typeof NATIVE_TARGETS)[number];

/** Longest input in bytes: some more than the largest seed. */
const MOST_BYTES: Record<NativeTarget, number> = { gguf: 70_000, chunk: 20_000 };

/** Families whose headers differ most. */
const FAMILIES = ['llama', 'qwen3', 'gemma3', 'gemma4', 'phi3', 'gpt-oss', 'qwen3moe', 'granite'];

/**
 * Runs a target; inputs that add coverage stay in build/fuzz for the next run. Returns whether nothing was found; a finding is copied to
 * native/tests/data/fuzz, where the native tests run it.
 */
export function fuzzNative(target: NativeTarget, minutes: number, seed: number): boolean {
  const build = sanitizedBuild('fuzzer', [`kvasir-fuzz-${target}`]);
  const seeds = join(ROOT, 'native', 'tests', 'data', 'fuzz', target);
  const corpus = join(ROOT, 'build', 'fuzz', target);
  mkdirSync(corpus, { recursive: true });
  if (target === 'gguf') for (const arch of FAMILIES) smallModel(arch, corpus);
  const findings = `${mkdtempSync(join(tmpdir(), `kvasir-fuzz-${target}-`))}/`;
  const { status } = spawnSync(
    join(build, `kvasir-fuzz-${target}`),
    [
      ...[`-max_total_time=${Math.ceil(minutes * 60)}`, `-seed=${seed}`, `-max_len=${MOST_BYTES[target]}`],
      ...[`-artifact_prefix=${findings}`, '-rss_limit_mb=2048', '-timeout=10', '-print_final_stats=1'],
      ...[corpus, seeds],
    ],
    { cwd: ROOT, stdio: 'inherit' },
  );
  for (const name of readdirSync(findings)) {
    const hash = createHash('sha256')
      .update(readFileSync(join(findings, name)))
      .digest('hex')
      .slice(0, 12);
    const kept = join(seeds, `${name.split('-')[0] ?? 'found'}-${hash}`);
    copyFileSync(join(findings, name), kept);
    console.log(`Kept as ${relative(ROOT, kept)}.`);
  }
  return status === 0;
}

/** Smaller than a page of text per tensor, so that mutations reach the header. */
function smallModel(arch: string, dir: string): void {
  const shape = { layers: 1, embd: 32, heads: 1, 'kv-heads': 1, 'head-dim': 32, ff: 32, vocab: 260 };
  const experts = { experts: 2, 'experts-used': 1, 'expert-ff': 32 };
  randomModel({ arch, type: 'q4_0', ...shape, ...experts }, dir);
}
