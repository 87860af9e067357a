import { CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CodeToken } from './highlight.ts';
import { coloured } from './highlight-queue.ts';
import { languageNamed } from './languages.ts';
import classes from './Markdown.module.css';
import { IconButton } from '../IconButton.tsx';

/** Longer code is not highlighted. */
const MAX_HIGHLIGHTED = 30_000;

/** A code block with its language or another label, highlighting once available, and a copy button. */
export function CodeBlock({ code, language, label }: { code: string; language: string; label?: string }) {
  const { t } = useTranslation(['chat', 'common']);
  const name = language.trim().split(/\s/)[0] ?? '';
  const lines = useHighlighted(code, name);
  return (
    <div className={classes.code}>
      <div className={classes.codeHead}>
        <span>{label ?? name}</span>
        <CopyButton value={code}>
          {({ copied, copy }) => (
            <IconButton
              label={copied ? t('common:action.copied') : t('markdown.copyCode')}
              tip={copied ? t('common:action.copied') : t('common:action.copy')}
              size="sm"
              onClick={copy}
            >
              {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            </IconButton>
          )}
        </CopyButton>
      </div>
      <pre tabIndex={0}>
        <code>
          {lines
            ? lines.map((line, index) => (
                <span key={index}>
                  {line.map((token, at) => (
                    <span key={at} style={token.style}>
                      {token.text}
                    </span>
                  ))}
                  {'\n'}
                </span>
              ))
            : code}
        </code>
      </pre>
    </div>
  );
}

/** Code that is being written changes every frame; it is highlighted only after a pause. */
const SETTLED_MS = 120;

/** Lines of highlighted tokens; undefined while plain: loading, unknown language, or still growing. */
function useHighlighted(code: string, name: string): CodeToken[][] | undefined {
  const language = code.length <= MAX_HIGHLIGHTED ? languageNamed(name) : undefined;
  const [done, setDone] = useState<{ code: string; lines: CodeToken[][] }>();
  useEffect(() => {
    if (!language) return undefined;
    let current = true;
    const colour = async (): Promise<void> => {
      const lines = await coloured(code, language);
      if (current) setDone({ code, lines });
    };
    const timer = setTimeout(() => {
      colour().catch((error: unknown) => console.warn('code stays in one colour', error));
    }, SETTLED_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [code, language]);
  return done?.code === code ? done.lines : undefined;
}
