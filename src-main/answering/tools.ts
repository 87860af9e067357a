import { randomUUID } from 'node:crypto';
import { KvasirError } from '../../src-shared/errors.ts';

/** A function that a model may call, as a client declares it. */
export interface Tool {
  name: string;
  description?: string | undefined;
  /** JSON schema of its arguments, an object. */
  parameters: Readonly<Record<string, unknown>>;
  /** Whether a schema that a grammar cannot hold is an error; otherwise any object is taken in its place. Sent to servers. */
  strict?: boolean | undefined;
}

/** Which tools an answer may call, or must; 'none': they are declared, as in the prompts before it. */
export type ToolChoice = 'auto' | 'required' | 'none' | { name: string };

/** The tools of a request; absent where none may be called. */
export interface ToolRequest {
  tools: readonly Tool[];
  choice: ToolChoice;
  /** Names of those that may be called; the others are declared only. Absent: all. */
  allowed?: readonly string[] | undefined;
  /** Whether one answer may call several times. */
  parallel: boolean;
}

export interface ToolCall {
  /** Names it in the conversation: its result refers to it. */
  id: string;
  name: string;
  /** A JSON object as text; incomplete if the answer ended within it. */
  arguments: string;
}

/** More of a call. The first delta of each has its id and name, and may have arguments. */
export interface ToolCallDelta {
  /** From 0, within an answer. */
  index: number;
  id?: string | undefined;
  name?: string | undefined;
  arguments: string;
}

export function addCallDelta(
  calls: ToolCall[],
  { index, id = '', name = '', arguments: more }: ToolCallDelta,
): void {
  const call = (calls[index] ??= { id, name, arguments: '' });
  call.arguments += more;
}

/** A tool in the form that chat templates and OpenAI's API have. */
export function declaration({ name, description, parameters }: Tool) {
  return {
    type: 'function' as const,
    function: { name, ...(description !== undefined && { description }), parameters },
  };
}

export function newCallId(): string {
  return `call_${randomUUID().replaceAll('-', '')}`;
}

export function toolsUnsupported(model: string, why = ''): KvasirError {
  return new KvasirError(
    'BAD_ARGUMENT',
    `Tools are not supported by the chat template of ${model === '' ? 'this model' : model}.${why}`,
    'Use a model whose template has tools, or leave them out.',
  );
}
