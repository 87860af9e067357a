import { FAILSAFE_SCHEMA, load } from 'js-yaml';

/** What stands between the lines `---` (YAML) or `+++` (TOML) before a Markdown text. */
interface FrontMatter {
  title: string;
  /** Its other fields, one a line. */
  fields: string;
  /** The text after it. */
  body: string;
}

const BLOCK = /^(---|\+\+\+)[ \t]*\n([\s\S]{0,65536}?)\n?^(?:\1|\.\.\.)[ \t]*(?:\n|$)/my;
const MAX_DEPTH = 2;
const MAX_FIELD = 2000;

/** A text without front matter is all body; so is one that only begins with a rule. */
export function readFrontMatter(text: string): FrontMatter {
  BLOCK.lastIndex = 0;
  const [block, fence, source = ''] = BLOCK.exec(text) ?? [];
  const fields = fence === '---' ? yaml(source) : pairs(source);
  if (block === undefined || !fields) return { title: '', fields: '', body: text };
  let title = '';
  const lines: string[] = [];
  for (const [name, value] of fields) {
    const words = wordsOf(value, 0).slice(0, MAX_FIELD);
    if (name.toLowerCase() === 'title') title = words;
    else if (words !== '') lines.push(`${name}: ${words}`);
  }
  return { title, fields: lines.join('\n'), body: text.slice(block.length).replace(/^\n+/, '') };
}

function yaml(source: string): [string, unknown][] | undefined {
  try {
    // Every scalar stays text: dates and numbers as they are written.
    const fields = load(source, { schema: FAILSAFE_SCHEMA });
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields))
      return Object.entries(fields);
    return source.trim() === '' || fields === undefined ? [] : undefined;
  } catch {
    return pairs(source); // for example a title with a colon and no quotes
  }
}

/** Lines `name: value` or `name = value`, with the indented lines after each; undefined when there is none. */
function pairs(source: string): [string, string][] | undefined {
  const found: [string, string][] = [];
  for (const line of source.split('\n')) {
    const [, name, value = ''] = /^([\w-]{1,80})\s*[:=]\s*(.*)$/.exec(line) ?? [];
    const last = found.at(-1);
    if (name !== undefined) found.push([name, unquoted(value.trim())]);
    else if (last && /^(?:\s+|- )[^\s#]/.test(line)) last[1] = `${last[1]} ${line.trim()}`.trim();
  }
  return found.length > 0 ? found : undefined;
}

function unquoted(value: string): string {
  return value.replace(/^(["'])(.*)\1$/, '$2').replace(/^\[(.*)\]$/, '$1');
}

function wordsOf(value: unknown, depth: number): string {
  if (typeof value === 'string') return value.replace(/\s+/g, ' ').trim();
  if (typeof value !== 'object' || value === null) return '';
  if (depth > MAX_DEPTH) return '';
  const parts = Array.isArray(value)
    ? value.slice(0, 100).map((one) => wordsOf(one, depth + 1))
    : Object.entries(value)
        .slice(0, 100)
        .map(([name, one]) => `${name}: ${wordsOf(one, depth + 1)}`);
  let text = '';
  for (const part of parts.filter(Boolean)) {
    if (text.length > MAX_FIELD) break;
    text += text === '' ? part : `, ${part}`;
  }
  return text;
}
