import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { ROOT } from '../../tools/setup/platform.mjs';

export interface SoakQuestion {
  model: string;
  messages: ChatCompletionMessageParam[];
  maxTokens: number;
}

/** The API's names of the demo model and the sample library. */
const MODEL = 'Kvasir demo';
const LIBRARY = 'kvasir/Sample library';
const PASSAGES = 4;

/** The sample questions: to its library, with passages that the client marks, and bare. */
export function questions(): SoakQuestion[] {
  const path = join(ROOT, 'resources', 'sample-library.questions.json');
  const asked = (JSON.parse(readFileSync(path, 'utf8')) as { question: string }[]).map(
    ({ question }) => question,
  );
  const texts = passages();
  return asked.flatMap((question, i): SoakQuestion[] => {
    const marked = Array.from({ length: PASSAGES }, (_, k) => ({
      ...{ type: 'text' as const, text: texts[(i * 3 + k * (i + 1)) % texts.length] ?? '' },
      cache: true,
    }));
    return [
      { model: LIBRARY, messages: [{ role: 'user', content: question }], maxTokens: 48 },
      {
        model: MODEL,
        messages: [{ role: 'user', content: [...marked, { type: 'text', text: question }] }],
        maxTokens: 32,
      },
      { model: MODEL, messages: [{ role: 'user', content: question }], maxTokens: 16 },
    ];
  });
}

function passages(): string[] {
  const dir = join(ROOT, 'resources', 'sample-library', 'people');
  const files = readdirSync(dir).filter((name) => name.endsWith('.md'));
  return files.sort().map((name) => readFileSync(join(dir, name), 'utf8'));
}
