import { readFileSync } from 'node:fs';
import type { Step } from '../../../../../src-shared/contract/analysis.ts';
import type { StrategyRequest } from '../../../../../src-shared/strategy.ts';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import type { CoreClient } from '../../../client/client.ts';
import { follow, sharingLine, stepLine } from '../../analysis-run.ts';
import type { CommandContext } from '../../context.ts';

interface ManyQuestions {
  file: string;
  scope: { libraryIds?: string[]; documentIds?: string[] };
  strategy: StrategyRequest | undefined;
  json: boolean;
}

/** Answers the questions of a file, one per line, and prints them as they arrive. BAD_ARGUMENT, ABORTED. */
export async function askMany(
  client: CoreClient,
  { file, scope, strategy, json }: ManyQuestions,
  { terminal, signal, setExitCode }: CommandContext,
): Promise<void> {
  const { id } = await client.call('analysis.questions', { questions: readLines(file), scope, strategy });
  const analysis = await follow(client, id, {
    signal,
    onStep: (step) => {
      if (json) return;
      terminal.out(`${terminal.bold(step.question)}\n${step.text}\n`);
      [...sourceLines(step), stepLine(step)].forEach((line) => terminal.err(line));
      terminal.out('\n');
    },
  });
  if (json) terminal.out(`${JSON.stringify(analysis, null, 2)}\n`);
  else terminal.err(sharingLine(analysis));
  if (analysis.stepsFailed > 0) setExitCode(1);
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
