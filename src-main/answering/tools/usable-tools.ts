import { KvasirError } from '../../../src-shared/errors.ts';
import { backendOf, requireLocal } from '../backends/backend-of.ts';
import type { NamedModel } from '../named-model.ts';
import type { Tool, ToolRequest } from '../tools.ts';
import { resultTexts } from './result-texts.ts';
import { grammarFor } from './tool-answers.ts';

/** The declarations of tools as a request that leaves the choice to the model; undefined where its chat template has none. */
export function usableTools(
  named: NamedModel,
  offered: readonly Tool[],
  think: boolean,
): ToolRequest | undefined {
  const tools = offered.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const request: ToolRequest = { tools, choice: 'auto', parallel: true };
  const backend = backendOf(named.model);
  const name = tools[0]?.name;
  if (name === undefined) return undefined;
  if (!backend.takesGrammar) return request;
  try {
    const { info } = requireLocal(named);
    grammarFor(request, named, { answer: undefined, think });
    const messages = [{ role: 'user', pieces: [''] }] as const;
    backend.layOut({
      messages,
      form: 'messages',
      think,
      reserve: 0,
      contextTokens: Infinity,
      tools: request,
    });
    const calls = [{ id: 'call', name, arguments: '{}' }];
    resultTexts(info, { calls, results: [''], written: '', tools, think });
    return request;
  } catch (error) {
    if (error instanceof KvasirError && error.code === 'BAD_ARGUMENT') return undefined;
    throw error;
  }
}
