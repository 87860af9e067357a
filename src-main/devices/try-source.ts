import { isAborted } from '../platform/abort.ts';
import { failureOf } from '../platform/failure.ts';
import type { TriedDevice, TriedSource } from './devices-file.ts';
import { noDeviceFailure, wrongFailure } from './failures.ts';
import type { Source } from './sources.ts';
import type { AskDevices } from './trial/ask-devices.ts';
import type { ListedDevice } from './trial/protocol.ts';

/** Tests each device of a source in a separate process, so that a crash of one does not affect the others. ABORTED. */
export async function trySource(
  ask: AskDevices,
  { name, pack, key }: Source,
  model: string,
  signal: AbortSignal,
): Promise<TriedSource> {
  try {
    const reply = await ask({ ask: 'list', pack }, signal);
    const listed = 'devices' in reply ? reply.devices : [];
    const devices = [];
    for (const each of listed) devices.push(await tryDevice(ask, each, { pack, model, signal }));
    return { source: name, key, failure: devices.length > 0 ? null : noDeviceFailure(name), devices };
  } catch (error) {
    if (isAborted(error)) throw error;
    return { source: name, key, failure: failureOf(error), devices: [] };
  }
}

async function tryDevice(
  ask: AskDevices,
  { name, description }: ListedDevice,
  { pack, model, signal }: { pack: string | null; model: string; signal: AbortSignal },
): Promise<TriedDevice> {
  const unmeasured = { name, description, tokensPerSecond: null, cpuTokensPerSecond: null };
  try {
    const reply = await ask({ ask: 'try', pack, device: name, model }, signal);
    if (!('measured' in reply)) throw new Error(`the trial of ${name} measured nothing`);
    const { wrong, ...speeds } = reply.measured;
    return { name, description, failure: wrong === '' ? null : wrongFailure(name, wrong), ...speeds };
  } catch (error) {
    if (isAborted(error)) throw error;
    return { ...unmeasured, failure: failureOf(error) };
  }
}
