import type { z } from 'zod';
import { analysisContract } from './analysis.ts';
import { appContract } from './app.ts';
import { cacheContract } from './cache.ts';
import { calibrationContract } from './calibration.ts';
import { chatContract } from './chat.ts';
import { commandContract } from './command.ts';
import { devicesContract } from './devices.ts';
import { foundModelsContract } from './found-models.ts';
import { hubContract } from './hub.ts';
import { librariesContract } from './libraries.ts';
import { modelsContract } from './models.ts';
import { projectsContract } from './projects.ts';
import { searchContract } from './search.ts';
import { settingsContract } from './settings.ts';
import { sharingContract } from './sharing.ts';
import { toolsContract } from './tools.ts';
import { watchingContract } from './watching.ts';

/**
 * All procedures. Handlers (src-main/api), the transports and the clients derive their types from it, and every input is parsed with its schema before it reaches a handler.
 */
export const contract = {
  ...appContract,
  ...settingsContract,
  ...modelsContract,
  ...devicesContract,
  ...foundModelsContract,
  ...hubContract,
  ...librariesContract,
  ...searchContract,
  ...chatContract,
  ...projectsContract,
  ...cacheContract,
  ...sharingContract,
  ...calibrationContract,
  ...analysisContract,
  ...toolsContract,
  ...watchingContract,
  ...commandContract,
};

type Contract = typeof contract;
export type ProcedureName = keyof Contract;
/** The input from the caller: fields with a default may be absent. */
export type InputOf<P extends ProcedureName> = z.input<Contract[P]['input']>;
/** The input to the handler. */
export type ParsedInputOf<P extends ProcedureName> = z.output<Contract[P]['input']>;
export type OutputOf<P extends ProcedureName> = z.output<Contract[P]['output']>;

/** A handler without a result may return nothing. */
type Handler<P extends ProcedureName> = (
  input: ParsedInputOf<P>,
) => OutputOf<P> extends Record<string, never> ? unknown : Promise<OutputOf<P>> | OutputOf<P>;
type CommandProcedure = keyof typeof commandContract;
export type CommandHandlers = { [P in CommandProcedure]: Handler<P> };
export type Handlers = {
  [P in Exclude<ProcedureName, CommandProcedure>]: Handler<P>;
} & Partial<CommandHandlers>;
/** Those of one domain, such as 'chat'. */
export type HandlersOf<Domain extends string> = Pick<
  Handlers,
  Extract<keyof Handlers, `${Domain}.${string}`>
>;

export function isProcedureName(name: unknown): name is ProcedureName {
  return typeof name === 'string' && Object.hasOwn(contract, name);
}
