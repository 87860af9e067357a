import type { ChunkKv, Model, Segment, Session, Strategy } from '../../src-main/engine/engine.ts';
import { UNCALIBRATED } from '../../src-main/fusion/planning/controller.ts';
import { engineStrategy } from '../../src-main/fusion/strategy.ts';
import { randomIds } from '../ttft/prompt.ts';
import type { LibraryChunk, PromptShape, ServeRequest } from './workload.ts';

/** Times of a request, in milliseconds since its arrival. */
export interface RequestTimes {
  ttftMs: number;
  totalMs: number;
  tokens: number;
}

export interface ServeMethod {
  name: string;
  /** Makes the prompt and writes the answer. `began`: the request's arrival time. */
  serve(request: ServeRequest, began: number): Promise<RequestTimes>;
  /** Releases the memory of earlier requests. */
  forget(): Promise<void>;
  /** Ends child processes. */
  close?(): Promise<void>;
}

const FULL: Strategy = { kind: 'full' };

function questionTokens({ question }: ServeRequest, shape: PromptShape, vocabSize: number): Int32Array {
  return randomIds(shape.questionTokens, vocabSize, 5000 + question);
}

/** The whole prompt: a first token, the passages in order, the question. */
export function promptTokens(
  request: ServeRequest,
  library: readonly LibraryChunk[],
  shape: PromptShape,
  vocabSize: number,
): Int32Array {
  const passages = request.chunks.flatMap((i) => [...(library[i]?.tokens ?? [])]);
  return Int32Array.from([1, ...passages, ...questionTokens(request, shape, vocabSize)]);
}

/** The same with these chunks in place of the passages. */
export function blendedSegments(
  chunks: readonly ChunkKv[],
  request: ServeRequest,
  shape: PromptShape,
  vocabSize: number,
): Segment[] {
  return [
    { kind: 'compute', tokens: Int32Array.of(1) },
    ...chunks.map((chunk): Segment => ({ kind: 'chunk', chunk })),
    { kind: 'compute', tokens: questionTokens(request, shape, vocabSize) },
  ];
}

export function shippedStrategy(model: Model): Strategy {
  return engineStrategy(UNCALIBRATED, model.info.kvLayers);
}

export function methodsOf(
  model: Model,
  library: readonly LibraryChunk[],
  { shape, kvBytes }: { shape: PromptShape; kvBytes: number },
): ServeMethod[] {
  const shipped = UNCALIBRATED;
  const percent = `${Math.round(shipped.ratio * 100)} %`;
  const { vocabSize } = model.info;
  const tokensOf = (request: ServeRequest): Int32Array => promptTokens(request, library, shape, vocabSize);
  const computed = async (session: Session, request: ServeRequest, adopts: boolean): Promise<void> => {
    const tokens = tokensOf(request);
    const adopted = adopts ? await session.adopt(tokens) : 0;
    await session.append([{ kind: 'compute', tokens: tokens.slice(adopted) }], FULL);
  };
  const blended = async (session: Session, request: ServeRequest): Promise<void> => {
    const chunks = request.chunks.flatMap((i) => library[i]?.kv ?? []);
    await session.append(blendedSegments(chunks, request, shape, vocabSize), shippedStrategy(model));
  };
  const method = (
    name: string,
    make: (session: Session, request: ServeRequest) => Promise<void>,
  ): ServeMethod => ({
    name,
    serve: (request, began) =>
      answered(model, { request, began, capacity: tokensOf(request).length + request.answerTokens, make }),
    forget: () => forget(model, kvBytes),
  });
  return [
    method('full prefill', (session, request) => computed(session, request, false)),
    method('prefix caching', (session, request) => computed(session, request, true)),
    method(`blending (${shipped.name} ${percent})`, blended),
  ];
}

interface RequestRun {
  request: ServeRequest;
  began: number;
  /** Tokens of prompt and answer. */
  capacity: number;
  make: (session: Session, request: ServeRequest) => Promise<void>;
}

export async function answered(
  model: Model,
  { request, began, capacity, make }: RequestRun,
): Promise<RequestTimes> {
  const { answerTokens } = request;
  const session = model.createSession(capacity);
  try {
    await make(session, request);
    let ttftMs = 0;
    const { tokens } = await session.generate({
      maxTokens: answerTokens,
      sampling: { drafting: 'off' }, // the text of random weights repeats itself
      onToken: () => (ttftMs ||= performance.now() - began),
    });
    const totalMs = performance.now() - began;
    return { ttftMs: ttftMs || totalMs, totalMs, tokens: tokens.length };
  } finally {
    session.dispose();
  }
}

/** Evicts prefixes that no session holds by setting their budget to zero. */
export async function forget(model: Model, kvBytes: number): Promise<void> {
  model.setKvBudget(0);
  await model.kvUsage();
  model.setKvBudget(kvBytes);
}
