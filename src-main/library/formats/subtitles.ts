import { ownValue } from '../../../src-shared/own-value.ts';
import { decode } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';

/** The line of times of a cue: SubRip's with commas, WebVTT's with points and perhaps without hours (WebVTT, 4.1). */
const TIMES = /^\s*(?:\d+:)?\d{1,3}:\d{2}[.,:]\d{1,3}\s*-->\s*(?:\d+:)?\d{1,3}:\d{2}[.,:]\d{1,3}/;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  lrm: '',
  rlm: '',
  quot: '"',
  apos: "'",
};

/** What is said, one cue a line, without numbers, times, notes and styles. A pause of this many seconds begins a paragraph. */
const PAUSE = 4;

export const subtitles: DocumentParser = ({ bytes, name }) => {
  const { text: source, warnings } = decode(bytes, name);
  const lines = source.split('\n');
  let text = '';
  let last = '';
  let end = 0;
  for (let at = 0; at < lines.length; at++) {
    const times = lines[at] ?? '';
    if (!TIMES.test(times)) continue;
    const cue: string[] = [];
    for (; at + 1 < lines.length && !beginsCue(lines, at + 1); at++) cue.push(lines[at + 1] ?? '');
    const [from = 0, to = 0] = times.split('-->').map(seconds);
    // Captions that roll repeat the line before.
    const said = cue.map(spoken).filter((line) => line !== '' && line !== last);
    if (said.length === 0) continue;
    text += `${text === '' ? '' : from - end >= PAUSE ? '\n\n' : '\n'}${said.join(' ')}`;
    last = said.at(-1) ?? '';
    end = to;
  }
  if (text === '') throw noText(name, source.trim() === '' ? 'the file is empty' : 'it has no subtitles');
  const title = /^WEBVTT[ \t]+(?:- *)?(\S.*)/.exec(source)?.[1] ?? '';
  return { text, headings: [], title, pages: [], warnings };
};

/** A cue's text ends at the next line of times, with the number or name of that cue, or at a blank line before a note or a style. */
function beginsCue(lines: readonly string[], at: number): boolean {
  const [line = '', next = '', third = ''] = lines.slice(at, at + 3);
  if (TIMES.test(line)) return true;
  if (line.trim() !== '')
    return /^\s*\d+\s*$/.test(line) && TIMES.test(next) && (lines[at - 1] ?? '').trim() === '';
  return /^(?:NOTE|STYLE|REGION)(?:\s|$)/.test(next) || TIMES.test(next) || TIMES.test(third);
}

function seconds(time: string): number {
  const [, hours = '0', minutes = '0', rest = '0'] = /(?:(\d+):)?(\d+):(\d+)[.,:]\d+/.exec(time) ?? [];
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
}

/** The words of a line: a voice names its speaker (WebVTT, 3.4), and SubRip's programs add styles in braces. */
function spoken(line: string): string {
  return line
    .replace(/<v(?:\.[^\s>]*)?\s+([^>]*)>/g, '$1: ')
    .replace(/<\/?(?:[a-z]+(?:[.\s][^<>]*)?|\d[\d:.]*)>/gi, '')
    .replace(/\{\\[^}]*\}/g, '')
    .replace(/\\N/g, ' ')
    .replace(/&(\w+);/g, (entity, name: string) => ownValue(ENTITIES, name) ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
}
