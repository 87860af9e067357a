import { whyNotBlended } from '../../../src-shared/blending.ts';
import type { GgufInfo } from '../../engine/engine.ts';
import { formatBytes } from '../../platform/format-bytes.ts';

/** The contents of a GGUF header as display labels and values. */
export function describeModel(info: GgufInfo): [label: string, value: string][] {
  if (info.obstacle === 'remote') {
    const context = info.contextTrain > 0 ? `${info.contextTrain} tokens` : 'not told';
    return [
      ['Name', info.name],
      ['Runs', 'on a server'],
      ['Context', context],
    ];
  }
  const types = Object.entries(info.tensorTypes).map(([type, count]) => `${type} × ${count}`);
  return [
    ['Name', info.name || '(none)'],
    ['Architecture', info.architecture],
    ['Runs here', runsHere(info)],
    ['Parameters', formatCount(info.parameterCount)],
    ['File', formatBytes(info.fileBytes)],
    ['Weights', `${info.tensorCount} tensors (${types.join(', ')})`],
    ['Layers', `${info.layers}${sharing(info)}`],
    ['Width', `${info.embeddingLength}, feed-forward ${feedForward(info)}`],
    ['Attention', `${info.heads} heads, ${info.kvHeads} KV heads, ${info.headDims.join(' or ')} wide`],
    ...attended(info),
    ['Context', `${info.contextTrain} tokens`],
    ['RoPE', `base ${info.ropeBase}, scaling ${info.ropeScaling || 'none'}${unrotated(info)}`],
    ['Vocabulary', `${info.vocabSize} tokens (${info.tokenizerModel})`],
    ['KV per token', formatBytes(2 * info.kvValuesPerToken)],
    ['Chat template', info.chatTemplate === '' ? 'none' : `${info.chatTemplate.length} characters`],
  ];
}

function feedForward({ experts, expertsUsed, expertFeedForwardLength, feedForwardLength }: GgufInfo): string {
  if (experts === 0) return String(feedForwardLength);
  return `${expertFeedForwardLength} in each of ${experts} experts, ${expertsUsed} of them used by a token`;
}

/** Attention range of the layers, where our own engine knows it. */
function attended({ obstacle, layers, windows }: GgufInfo): [string, string][] {
  if (obstacle !== '') return [];
  const windowed = windows.filter((window) => window > 0).length;
  if (windowed === 0) return [['Layers see', 'all preceding tokens']];
  const some = `the last ${Math.max(...windows)} tokens in ${windowed}, all preceding ones in ${layers - windowed}`;
  return [['Layers see', some]];
}

/** Fewer layers compute keys and values than exist: the rest reuse them. */
function sharing({ layers, kvLayers }: GgufInfo): string {
  return kvLayers === layers ? '' : `, of which the last ${layers - kvLayers} read the KV of earlier ones`;
}

function unrotated({ unrotatedLayers }: GgufInfo): string {
  return unrotatedLayers === 0 ? '' : `, none in ${unrotatedLayers} layers`;
}

function runsHere({ name, obstacle, unsupportedReason }: GgufInfo): string {
  if (unsupportedReason !== '') return `no: ${unsupportedReason}`;
  return obstacle === '' ? 'yes' : `yes, by llama.cpp: ${whyNotBlended(name || 'It', obstacle)}`;
}

function formatCount(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(1)} billion`;
  return count >= 1e6 ? `${(count / 1e6).toFixed(1)} million` : String(count);
}
