import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { formatBytes } from '../../platform/format-bytes.ts';

type Block = CallToolResult['content'][number];

/** A tool's result for the model: text as it is, structured content as JSON, and all that is no text named in words. */
export function resultText({ content, structuredContent }: CallToolResult): string {
  const texts = content.map(blockText);
  // Servers repeat structured content as text, for clients that do not know it.
  const isRepeated = content.some(
    (block) => block.type === 'text' && isDeepStrictEqual(jsonOf(block.text), structuredContent),
  );
  if (structuredContent && !isRepeated) texts.push(JSON.stringify(structuredContent));
  return texts.join('\n\n') || '(The tool returned nothing.)';
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type}: ${block.mimeType}, ${sizeOf(block.data)}]`;
    case 'resource_link':
      return `[resource ${block.uri}: ${[block.title ?? block.name, block.description].filter(Boolean).join(', ')}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `[resource ${resource.uri}]\n${resource.text}`;
      return `[resource ${resource.uri}: ${resource.mimeType ?? 'binary'}, ${sizeOf(resource.blob)}]`;
    }
  }
}

/** Of Base64. */
function sizeOf(data: string): string {
  return formatBytes(Buffer.byteLength(data, 'base64'));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
