// What changed up to a tag (or HEAD) since the one before it, from the commits, as Markdown: node tools/dist/release-notes.ts [TAG]
import { execFileSync } from 'node:child_process';

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The last tag before `tag`; undefined for the first. */
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
