// Lists the commits between a tag (or HEAD) and the previous tag, as Markdown: node tools/dist/release-notes.ts [TAG]
import { execFileSync } from 'node:child_process';

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The previous tag; undefined for the first. */
function tagBefore(tag: string): string | undefined {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match', 'v*', `${tag}^`);
  } catch {
    return undefined;
  }
}

const tag = process.argv[2] ?? 'HEAD';
const before = tagBefore(tag);
const range = before === undefined ? tag : `${before}..${tag}`;
const changes = git('log', '--no-merges', '--reverse', '--format=%s', range).split('\n').filter(Boolean);
console.log(before === undefined ? 'The first release.\n' : `What changed since ${before}:\n`);
for (const change of changes) console.log(`- ${change}`);
