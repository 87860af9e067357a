import { Text } from '@mantine/core';
import { Fragment, useCallback, useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Citation, CitedSentence } from '../../../../src-shared/contract/chat.ts';
import type { Range } from '../../../../src-shared/contract/common.ts';
import type { ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import { SentenceMarks } from '../../../ui/markdown/Inline.tsx';
import { MarkdownBlocks } from '../../../ui/markdown/Markdown.tsx';
import { TextMarks } from '../../../ui/markdown/MarkedText.tsx';
import type { BlockSplit } from '../../../ui/markdown/split.ts';
import { citeMark, lex } from '../../../ui/markdown/tokens.ts';
import { partsOf, sentencesIn } from '../calls/call-views.ts';
import { SentenceSources } from './SentenceSources.tsx';
import classes from './Answer.module.css';

/**
 * An answer's text, with its calls of tools where they were made: the text after the last one from the parsed blocks while
 * it is written, the rest from the text itself. Each sentence ends with its sources, or a mark where no passage says it.
 * Afterwards names, numbers and dates that no passage contains are marked and counted.
 */
export function AnswerText({
  text,
  calls,
  live,
  sentences = NO_SENTENCES,
  citations,
  unsupported = NONE,
  renderCalls,
}: {
  text: string;
  calls: readonly ToolCall[];
  /** Of the text after the last call. */
  live?: BlockSplit | undefined;
  sentences?: readonly CitedSentence[] | undefined;
  citations: readonly Citation[];
  unsupported?: readonly Range[] | undefined;
  renderCalls: (calls: readonly ToolCall[]) => ReactNode;
}) {
  const { t } = useTranslation('chat');
  const parts = useMemo(() => partsOf(text, calls), [text, calls]);
  const marks = useMemo(() => {
    const words = live ? [] : unsupported.map(({ start, end }) => text.slice(start, end));
    return { words: [...new Set(words)], why: t('message.unsupported') };
  }, [text, live, unsupported, t]);
  const mark = useCallback(
    (index: number) => <SentenceSources sentence={sentences[index]} citations={citations} />,
    [sentences, citations],
  );
  return (
    <TextMarks value={marks}>
      <SentenceMarks value={mark}>
        {parts.map((part, i) => (
          <Fragment key={part.start}>
            {part.calls.length > 0 && renderCalls(part.calls)}
            {live && i === parts.length - 1 ? (
              <div className={classes.writing}>
                <MarkdownBlocks blocks={[...live.finished, ...live.open]} />
              </div>
            ) : (
              <WrittenPart start={part.start} text={part.text} sentences={sentences} />
            )}
          </Fragment>
        ))}
      </SentenceMarks>
      {marks.words.length > 0 && (
        <Text c="dimmed" mt={6} role="note">
          {t('message.unsupportedCount', { count: marks.words.length })}
        </Text>
      )}
    </TextMarks>
  );
}

const NONE: readonly Range[] = [];
const NO_SENTENCES: readonly CitedSentence[] = [];

/** A part of the text that does not grow. */
function WrittenPart({
  start,
  text,
  sentences,
}: {
  /** UTF-16 offset in the answer. */
  start: number;
  text: string;
  /** Of the whole answer. */
  sentences: readonly CitedSentence[];
}) {
  const blocks = useMemo(() => {
    let [marked, from] = ['', 0];
    for (const { index, end } of sentencesIn({ start, text }, sentences)) {
      marked += text.slice(from, end) + citeMark(index);
      from = end;
    }
    return lex(marked + text.slice(from)).blocks;
  }, [start, text, sentences]);
  if (text.trim() === '') return null;
  return <MarkdownBlocks blocks={blocks} />;
}
