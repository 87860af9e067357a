import { relative } from 'node:path';
import type { Command } from 'commander';
import type { ModelInUse } from '../../../../../src-shared/contract/models.ts';
import { formatBytes } from '../../../../platform/format-bytes.ts';
import { resolvePaths } from '../../../../platform/paths.ts';
import type { CommandContext } from '../../context.ts';
import { compareAll, readQuestions } from './comparison.ts';
import { comparisonSummary, comparisonTable } from './comparison-table.ts';
import { prepare, type PrepareReport } from '../../prepare.ts';
import type { Terminal } from '../../terminal.ts';
import { withProfile } from '../../with-profile.ts';

const QUESTIONS = 16;

export function addDemoCommand(program: Command, context: CommandContext): void {
  program
    .command('demo')
    .description('answer questions about the sample library twice, by full prefill and by blending')
    .action(() => demonstrate(context));
}

/** Precomputes the sample library's cache, then answers the sample's questions twice: by full prefill and by blending. */
async function demonstrate(context: CommandContext): Promise<void> {
  const { terminal, signal } = context;
  await withProfile(context, {}, async (client, model) => {
    terminal.out(`${terminal.bold('Kvasir: documents in, blended answer out')}\n\n`);
    const prepared = await prepare(client, { model, precompute: true, terminal, signal });
    introduce(model, prepared, context);
    tellPrecompute(prepared, terminal);

    const questions = readQuestions(resolvePaths().sampleQuestions, QUESTIONS);
    terminal.out(
      `Questions     ${questions.length}, each answered twice: by a full prefill of the prompt, and by blending\n\n`,
    );
    const rows = await compareAll({ client, libraryId: prepared.libraryId, signal }, questions);
    terminal.out(`${comparisonTable(rows, terminal.width)}\n\n`);
    terminal.out(`${comparisonSummary(rows)}\n\n`);
    terminal.out(HINTS);
  });
}

const HINTS = `Try next:
  npm start
  npm start -- ask "A question about the sample library"
  npm start -- ask --library FOLDER [--model FILE.gguf] "A question about your own documents"
  npm start -- cache ls
  npm start -- --help
`;

function introduce(
  { name, path, architecture, layers, fileBytes, threads, chunkTokens }: ModelInUse,
  { root }: PrepareReport,
  { terminal, cwd }: CommandContext,
): void {
  terminal.out(
    `Model         ${name || relative(cwd, path)}: ${architecture}, ${layers} layers, ${formatBytes(fileBytes)}, ${threads} ${threads === 1 ? 'thread' : 'threads'}\n`,
  );
  terminal.out(`Library       ${relative(cwd, root)}, cut into chunks of at most ${chunkTokens} tokens\n`);
}

function tellPrecompute({ sync, precompute: report }: PrepareReport, terminal: Terminal): void {
  terminal.out(`              ${sync.documents} documents, ${sync.chunks} chunks\n`);
  if (!report) return;
  const shared = report.fetched > 0 ? `; ${report.fetched} came from the shared cache` : '';
  const done =
    report.computed === 0
      ? `nothing to do: the KV of all ${report.stored} chunks is stored from an earlier run${shared}`
      : `the KV of ${report.computed} chunks (${report.tokens} tokens) computed once and stored: ` +
        `${(report.ms / 1000).toFixed(1)} s, ${formatBytes(report.bytes)}` +
        (report.stored > 0 ? `; ${report.stored} were stored already` : '') +
        shared;
  terminal.out(`Precompute    ${done}\n`);
}
