import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEMO_MODEL } from '../own-model.ts';

/** The variable that tells a flow's process the model's URL. */
export const MODEL_URL = 'KVASIR_FAULTS_MODEL_URL';

const MODEL = readFileSync(DEMO_MODEL);
export const MODEL_SHA256 = sha256(MODEL);
/** Of a response; then the connection ends, so that each download resumes twice. */
const MOST_BYTES = Math.ceil(MODEL.length / 3);

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Serves the demo model on this machine, over connections that end too early. */
export async function serveModel(): Promise<{ url: string; server: Server }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/kvasir-demo.gguf`, server };
}

function answer({ headers: { range = '' } }: IncomingMessage, response: ServerResponse): void {
  const from = Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0);
  const headers = { etag: `"${MODEL_SHA256}"`, 'content-length': MODEL.length - from };
  if (from >= MODEL.length) {
    response.writeHead(416, { 'content-range': `bytes */${MODEL.length}` }).end();
    return;
  }
  const partial = { 'content-range': `bytes ${from}-${MODEL.length - 1}/${MODEL.length}` };
  response.writeHead(from > 0 ? 206 : 200, { ...headers, ...(from > 0 && partial) });
  response.write(MODEL.subarray(from, from + MOST_BYTES), () => response.socket?.end());
}
