import { readFileSync } from 'node:fs';
import type { Step } from '../../../../../src-shared/contract/analysis.ts';
import { QuestionBatchSchema } from '../../../../../src-shared/contract/analysis.ts';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import { firstIssue } from '../../../../../src-shared/settings.ts';
import type { App, Workspace } from '../../../../app.ts';
import { follow, sharingLine, stepLine } from '../../analysis-run.ts';
import type { CommandContext } from '../../context.ts';
import { strategyRequestOf, type StrategyFlags } from '../../strategy-flags.ts';

/** Answers the questions of a file, one per line, and prints them as they arrive. BAD_ARGUMENT, ABORTED. */
export async function askMany(
  file: string,
  flags: StrategyFlags & { json?: boolean },
  { app, workspace, context }: { app: App; workspace: Workspace; context: CommandContext },
): Promise<void> {
  const { terminal, signal } = context;
  const questions = readLines(file);
  const { topK, maxTokens } = workspace.settings.current;
  const strategy = strategyRequestOf(flags);
  const request = QuestionBatchSchema.safeParse({ questions, topK, maxTokens, strategy });
  if (!request.success)
    throw new KvasirError('BAD_ARGUMENT', `The questions cannot be asked: ${firstIssue(request.error)}.`);
  const analyses = app.workspaces.analysesOf(workspace);
  const { id } = analyses.ask(request.data);
  const analysis = await follow(workspace.events, analyses, id, {
    signal,
    onStep: (step) => {
      if (flags.json === true) return;
      terminal.out(`${terminal.bold(step.question)}\n${step.text}\n`);
      [...sourceLines(step), stepLine(step)].forEach((line) => terminal.err(line));
      terminal.out('\n');
    },
  });
  if (flags.json === true) terminal.out(`${JSON.stringify(analysis, null, 2)}\n`);
  else terminal.err(sharingLine(analysis));
  if (analysis.stepsFailed > 0) context.setExitCode(1);
}

function sourceLines({ sources }: Step): string[] {
  return sources.map(({ path, ordinal }, i) => `  [${i + 1}] ${path}, part ${ordinal + 1}`);
}

/** Non-empty lines. BAD_ARGUMENT. */
function readLines(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const message = `The questions in ${file} cannot be read.`;
    throw new KvasirError('BAD_ARGUMENT', message, 'Give a text file with a question on each line.', {
      cause: error,
    });
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== '');
}
