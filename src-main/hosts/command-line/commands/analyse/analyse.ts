import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Command } from 'commander';
import type { Analysis, Step } from '../../../../../src-shared/contract/analysis.ts';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import { resultOf } from '../../../../analysis/export.ts';
import type { CoreClient } from '../../../client/client.ts';
import { follow, sharingLine, stepLine } from '../../analysis-run.ts';
import type { CommandContext } from '../../context.ts';
import { addAnswerFlags, addModelFlags, integer, path, type ModelFlags } from '../../options.ts';
import { addStrategyFlags, strategyOf, type StrategyFlags } from '../../strategy-flags.ts';
import { prepare, type PrepareReport } from '../../prepare.ts';
import { withProfile } from '../../with-profile.ts';

interface AnalyseFlags extends ModelFlags, StrategyFlags {
  library?: string;
  window?: number;
  overlap?: number;
  json?: boolean;
}

export function addAnalyseCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('analyse')
    .alias('analyze')
    .description(
      'read a long document window by window, each blended from cached chunks, and combine what was found',
    )
    .argument('<document>', "a file, or a path in the library's folder")
    .argument('<instruction>', 'what to do with it, e.g. "Summarise this."')
    .option(
      '--library <dir>',
      "folder of documents (default: the file's own, else the sample library)",
      path(context),
    )
    .option('--window <n>', 'chunks in a window at most (default: as many as the context holds)', integer(1))
    .option(
      '--overlap <n>',
      'chunks that a window repeats of the one before (default: a sixth of it)',
      integer(0),
    )
    .option('--json', 'print one JSON object instead of the answers');
  addStrategyFlags(addAnswerFlags(addModelFlags(command, context)));
  command.action((document: string, instruction: string, flags: AnalyseFlags) =>
    analyse(document, instruction, flags, context),
  );
}

async function analyse(document: string, instruction: string, flags: AnalyseFlags, context: CommandContext) {
  const { terminal, signal } = context;
  const file = path(context)(document);
  const ownFolder = flags.library === undefined && existsSync(file);
  const library = ownFolder ? dirname(file) : flags.library;
  await withProfile(context, flags, async (client, model) => {
    const strategy = strategyOf(flags, model.kvLayers);
    const prepared = await prepare(client, { model, library, precompute: false, terminal, signal });
    const { id } = await client.call('analysis.document', {
      documentId: await idOf(client, prepared, ownFolder ? basename(document) : document),
      instruction,
      strategy,
      size: flags.window,
      overlap: flags.overlap,
    });
    const analysis = await follow(client, id, {
      signal,
      onStep: (step, all) => {
        if (flags.json) return;
        terminal.out(`${terminal.bold(headingOf(step, all))}\n${step.text}\n`);
        terminal.err(stepLine(step));
        terminal.out('\n');
      },
    });
    if (flags.json) terminal.out(`${JSON.stringify(jsonOf(analysis), null, 2)}\n`);
    else terminal.err(sharingLine(analysis));
  });
}

async function idOf(client: CoreClient, { libraryId, root }: PrepareReport, path: string): Promise<string> {
  const search = path.slice(0, 500);
  const { items } = await client.call('documents.list', { libraryId, search, limit: 1000 });
  // A terminal may spell accents otherwise than the disk (NFC, NFD).
  const found =
    items.find((item) => item.path === path) ??
    items.find((item) => item.path.normalize() === path.normalize());
  if (found) return found.id;
  throw new KvasirError(
    'NOT_FOUND',
    `The library ${root} has no document ${path}.`,
    'Give its path relative to the folder, with forward slashes.',
  );
}

function jsonOf(analysis: Analysis): Record<string, unknown> {
  return { ...analysis, result: resultOf(analysis)?.text ?? null };
}

function headingOf({ kind, from, to, id }: Step, all: readonly Step[]): string {
  const windows = all.filter((step) => step.kind === 'window').length;
  const place = all.findIndex((step) => step.id === id) + 1;
  if (kind === 'window') return `Window ${place} of ${windows} (parts ${from + 1}–${to})`;
  return to - from === windows ? 'All windows together' : `Steps ${from + 1}–${to} together`;
}
