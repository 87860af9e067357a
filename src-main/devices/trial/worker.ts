/**
 * The process in which GPUs are tested. A driver can crash or hang its process when it is loaded and when it computes;
 * here that costs only the test.
 */
import { Engine } from '../../engine/engine.ts';
import { failureOf } from '../../platform/failure.ts';
import { isGpu } from '../gpu.ts';
import { measure } from './measure.ts';
import type { DeviceReply, DeviceRequest } from './protocol.ts';

process.on('message', (request: DeviceRequest) => void answer(request));
process.on('disconnect', () => process.exit(0));

async function answer(request: DeviceRequest): Promise<void> {
  try {
    send(await reply(request));
  } catch (error) {
    send({ failure: failureOf(error) });
  }
}

async function reply(request: DeviceRequest): Promise<DeviceReply> {
  const engine = Engine.open();
  if (request.pack !== null) engine.loadPack(request.pack);
  if (request.ask === 'list') {
    const gpus = engine.devices().filter(isGpu);
    return { devices: gpus.map(({ name, description }) => ({ name, description })) };
  }
  const cpu = await engine.loadModel(request.model, { device: 'cpu' });
  const here = await engine.loadModel(request.model, { device: request.device });
  return { measured: await measure(here, cpu) };
}

function send(message: DeviceReply): void {
  process.send?.(message);
}
