/** Messages of the window's contract, and WebSocket frames that are damaged, cut, and sent in pieces. */
import { connect } from 'node:net';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { testServer, TestWindow } from '../../../src-main/hosts/http/window/window.test-support.ts';
import { contract, type Handlers } from '../../../src-shared/contract/contract.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { fromSchema, mutateJson, written, type Json, type Schema } from '../json.ts';
import { mutate, pick, type Random } from '../mutate.ts';
import type { Target } from '../search.ts';

type Input =
  | { kind: 'call'; text: string }
  /** Latin-1: what follows the handshake, and where it is divided into packets. */
  | { kind: 'frames'; bytes: string; at: number[] };

const SCHEMAS = Object.entries(contract).map(([name, { input }]) => {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema;
  return { name, schema };
});
/** RFC 6455, 5.2. */
const OPCODES = [1, 1, 1, 0, 2, 8, 9, 10, 3, 15];

export async function openWebsocket(): Promise<Target> {
  const server = await testServer(HANDLERS);
  const headers = { Origin: server.origin, Cookie: await server.enter() };
  const { port } = server.server;
  const path = `${server.base}socket`;
  let window: TestWindow | undefined;
  onTestFinished(() => window?.socket.terminate());
  const opened = async (): Promise<TestWindow> => {
    if (window?.socket.readyState !== window?.socket.OPEN) window = undefined;
    return (window ??= await TestWindow.open(port, headers, path));
  };
  const handshake = [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return {
    make: (random) => JSON.stringify(make(random)),
    run: async (text) => {
      const input = JSON.parse(text) as Input;
      if (input.kind === 'frames') return frames(port, `${handshake.join('\r\n')}\r\n\r\n`, input);
      return call(await opened(), input.text);
    },
    inputs: 300,
    reaches: ['answered', 'BAD_ARGUMENT', 'NOT_FOUND', 'closed 1008', 'frames'],
  };
}

/** Each succeeds, or fails as services do. */
const HANDLERS = Object.fromEntries(
  Object.keys(contract).map((name, i) => [
    name,
    () => {
      if (i % 5 === 0) throw new KvasirError('NOT_FOUND', 'There is none.');
      return Promise.resolve();
    },
  ]),
) as unknown as Handlers;

function make(random: Random): Input {
  const text = message(random);
  if (random() < 0.7)
    return { kind: 'call', text: random() < 0.05 ? mutate(Buffer.from(text), random).toString() : text };
  const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
    frame(message(random).slice(0, 2000), random),
  );
  const whole = Buffer.concat(parts);
  const bytes = random() < 0.7 ? mutate(whole, random) : whole;
  const at = Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * bytes.length));
  return { kind: 'frames', bytes: bytes.toString('latin1'), at: at.sort((a, b) => a - b) };
}

function message(random: Random): string {
  const { name, schema } = pick(SCHEMAS, random);
  const input = fromSchema(schema, { random, root: schema, words: {} });
  const value: Json = { id: 1, name, input };
  return written(random() < 0.6 ? mutateJson(value, random) : value);
}

/** A client's frame, masked with zeros. */
function frame(text: string, random: Random): Buffer {
  const payload = Buffer.from(text);
  const first = (random() < 0.8 ? 0x80 : 0) | (random() < 0.05 ? 0x40 : 0) | pick(OPCODES, random);
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from([first, ...length, 0, 0, 0, 0]), payload]);
}

/** The code of the answer, or with which the connection was closed. */
async function call(window: TestWindow, text: string): Promise<string> {
  const answer = once(window.socket, 'message') as Promise<[Buffer]>;
  answer.catch(() => undefined);
  window.socket.send(text);
  const first = await Promise.race([answer, window.closed]);
  if (typeof first === 'number') return `closed ${first}`;
  const { ok, error } = JSON.parse(first[0].toString()) as {
    ok: boolean;
    error?: { code: string; message: string };
  };
  if (ok) return 'answered';
  if (!error?.message || /\[object |Error:|\n\s+at /.test(error.message))
    throw new Error(JSON.stringify(error));
  return error.code;
}

/** Ends when the server has closed the connection, after the client did. */
async function frames(
  port: number,
  handshake: string,
  { bytes, at }: Input & { kind: 'frames' },
): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined); // 'close' follows
  socket.resume();
  const closed = once(socket, 'close');
  socket.write(handshake);
  const all = Buffer.from(bytes, 'latin1');
  const cuts = [0, ...at, all.length];
  for (const [i, from] of cuts.slice(0, -1).entries()) {
    socket.write(all.subarray(from, cuts[i + 1]));
    await new Promise(setImmediate);
  }
  socket.end();
  await closed;
  return 'frames';
}
