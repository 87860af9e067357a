import { KvasirError } from '../../src-shared/errors.ts';
import type { CallResult } from '../../src-shared/contract/bridge.ts';
import { contract, isProcedureName, type Handlers } from '../../src-shared/contract/contract.ts';
import { firstIssue } from '../../src-shared/settings.ts';
import { failureOf, traceOf } from '../platform/failure.ts';
import type { Logger } from '../platform/logger.ts';

/** The entry point to which a host forwards a window's calls. */
export interface Api {
  /** Never rejects: a failure is a value with a code. */
  call(name: unknown, input: unknown): Promise<CallResult>;
}

/** Validates each input against its schema, runs the handler, and converts errors into failure values. */
export function createApi(handlers: Handlers, log: Logger): Api {
  return {
    async call(name, input) {
      if (typeof name !== 'string') return refused('The name of a procedure must be text.');
      if (!isProcedureName(name)) return refused(`There is no procedure ${JSON.stringify(name)}.`);
      try {
        const parsed = contract[name].input.safeParse(input ?? {});
        if (!parsed.success) return refused(`${name}: ${firstIssue(parsed.error)}.`);
        // The schema and the handler of a name belong together, which TypeScript cannot follow through the union.
        const handler = handlers[name] as ((input: unknown) => unknown) | undefined;
        if (!handler) return refused(`Only commands can call ${name}.`);
        const output = await handler(parsed.data);
        return { ok: true, data: output === undefined ? {} : output };
      } catch (error) {
        if (!(error instanceof KvasirError)) log.error('call-failed', { name, error: traceOf(error) });
        return { ok: false, error: failureOf(error) };
      }
    },
  };
}

function refused(message: string): CallResult {
  return { ok: false, error: { code: 'BAD_ARGUMENT', message, advice: '' } };
}
