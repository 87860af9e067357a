/** Runs a flow in a process that may be killed: node disk-child.ts <flow> <data folder>. Prints a line for each event of it. */
import { writeSync } from 'node:fs';
import { App } from '../../src-main/app.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { clientOf, type Acceptance } from './disk/contents.ts';
import { FLOWS, type Flow, type FlowName } from './disk/flows.ts';

/** A line: something that must exist from then on, or the code of an error that people would read. */
export type FlowEvent = Acceptance | { kind: 'failed'; code: string; message: string };

const [name, data = ''] = process.argv.slice(2);
const flow: Flow = FLOWS[name as FlowName];
// In one call, so that a killed process tells all or nothing.
const tell = (told: FlowEvent): void => void writeSync(1, `${JSON.stringify(told)}\n`);

/** Others end the process: they are defects, which the core reports as ENGINE_FAILED. */
function tellReadable(error: unknown): void {
  const isReadable = error instanceof KvasirError && error.code !== 'ENGINE_FAILED';
  if (!isReadable) throw error;
  tell({ kind: 'failed', code: error.code, message: error.message });
}

try {
  const app = await App.open({ dataDir: data });
  try {
    for (const { code, message } of app.takeFound())
      if (code !== 'DOCUMENTS_RECUT') tell({ kind: 'failed', code, message });
    const client = clientOf(app);
    app.start();
    const step = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await work();
      } catch (error) {
        tellReadable(error);
        return undefined;
      }
    };
    await flow.run({ app, client, data, promise: tell, step });
  } finally {
    await app.close();
  }
} catch (error) {
  tellReadable(error);
}
