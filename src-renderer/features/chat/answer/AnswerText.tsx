import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Range } from '../../../../src-shared/contract/common.ts';
import { MarkdownBlocks } from '../../../ui/markdown/Markdown.tsx';
import { TextMarks } from '../../../ui/markdown/MarkedText.tsx';
import type { BlockSplit } from '../../../ui/markdown/split.ts';
import { lex } from '../../../ui/markdown/tokens.ts';
import classes from './Answer.module.css';

/**
 * An answer's text: from the parsed blocks while it is written, from the whole text afterwards. Then names, numbers and
 * dates that no passage contains are marked and counted.
 */
export function AnswerText({
  text,
  live,
  unsupported = NONE,
}: {
  text: string;
  live?: BlockSplit | undefined;
  unsupported?: readonly Range[] | undefined;
}) {
  const { t } = useTranslation('chat');
  const whole = useMemo(() => (live ? [] : lex(text).blocks), [text, live]);
  const marks = useMemo(() => {
    const words = live ? [] : unsupported.map(({ start, end }) => text.slice(start, end));
    return { words: [...new Set(words)], why: t('message.unsupported') };
  }, [text, live, unsupported, t]);
  return (
    <div className={live ? classes.writing : undefined}>
      <TextMarks value={marks}>
        <MarkdownBlocks blocks={live ? [...live.finished, ...live.open] : whole} />
      </TextMarks>
      {marks.words.length > 0 && (
        <Text c="dimmed" size="sm" mt={6} role="note">
          {t('message.unsupportedCount', { count: marks.words.length })}
        </Text>
      )}
    </div>
  );
}

const NONE: readonly Range[] = [];
