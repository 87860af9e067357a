import type { z } from '@hono/zod-openapi';
import { ownValue } from '../../../src-shared/own-value.ts';
import { Refusal } from './errors.ts';

type Issue = z.core.$ZodIssue;

/** What clients may send and Kvasir does not do: said in a sentence, where the name alone says too little. */
const NOT_DONE: Readonly<Record<string, string>> = {
  functions: 'Send tools instead.',
  function_call: 'Send tool_choice instead.',
  mcp_servers: 'Kvasir calls no tools itself.',
  audio: 'Kvasir writes text only.',
  images: 'Kvasir reads text only.',
  grammar: 'Ask for JSON by response_format.',
  web_search_options: 'Kvasir searches nothing but its libraries: ask for a model called kvasir/<library>.',
};

/** The first thing that is wrong with a request, by the name of its field. */
export function refusalOf({ issues }: Pick<z.core.$ZodError, 'issues'>): Refusal {
  const issue = deepest(issues);
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') path.push(issue.keys[0] ?? '');
  const param = path.join('.');
  const why = ownValue(NOT_DONE, path.at(-1) ?? '');
  if (issue.code === 'unrecognized_keys' || why !== undefined) {
    const message = `${param} is not supported. ${why ?? ''}`.trim();
    return new Refusal(400, message, { param, code: 'unsupported_parameter' });
  }
  const message = param === '' ? issue.message : `${param}: ${issue.message}`;
  return new Refusal(400, message, { param: param === '' ? null : param, code: 'invalid_value' });
}

/** Of several forms that a value may have, the one that was meant is the one it came furthest with. */
function deepest(issues: readonly Issue[]): Issue {
  const all = issues.map((issue): Issue => {
    if (issue.code !== 'invalid_union') return issue;
    const inner = furthest(issue.errors.map(deepest));
    return inner && inner.path.length > 0 ? { ...inner, path: [...issue.path, ...inner.path] } : issue;
  });
  return all.find(({ code }) => code === 'unrecognized_keys') ?? furthest(all) ?? NOTHING;
}

function furthest(issues: readonly Issue[]): Issue | undefined {
  return issues.toSorted((a, b) => b.path.length - a.path.length)[0];
}

const NOTHING: Issue = { code: 'custom', path: [], message: 'The request is not valid.', input: undefined };
