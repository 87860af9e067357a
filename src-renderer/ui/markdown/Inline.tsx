import { IconPhotoOff } from '@tabler/icons-react';
import { createContext, createElement, lazy, Suspense, use, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { decodeEntities, safeLink } from './links.ts';
import { MarkedText } from './MarkedText.tsx';
import { childrenOf, withoutCites, type MarkdownToken } from './tokens.ts';
import classes from './Markdown.module.css';

const Formula = lazy(() => import('./Formula.tsx'));

/** Renders the mark at the end of the sentence with this index; without it none is shown. */
export const SentenceMarks = createContext<((index: number) => ReactNode) | undefined>(undefined);

/** Inline content. */
export function Inline({ tokens }: { tokens: readonly MarkdownToken[] }) {
  return tokens.map((token, index) => <Piece key={index} token={token} />);
}

function Piece({ token }: { token: MarkdownToken }): ReactNode {
  switch (token.type) {
    case 'text':
      return token.tokens ? (
        <Inline tokens={childrenOf(token)} />
      ) : (
        <MarkedText text={decodeEntities(token.text)} />
      );
    case 'escape':
      return token.text;
    case 'strong':
    case 'em':
    case 'del':
      return createElement(token.type, null, <Inline tokens={childrenOf(token)} />);
    case 'codespan':
      return <code>{withoutCites(token.text)}</code>;
    case 'cite':
      return <SentenceMark index={token.index} />;
    case 'br':
      return <br />;
    case 'link':
      return <TextLink href={token.href} tokens={childrenOf(token)} text={token.text} />;
    case 'image':
      return <MissingImage href={token.href} text={token.text} />;
    case 'math':
      return (
        <Suspense fallback={<code>{withoutCites(token.text)}</code>}>
          <Formula source={withoutCites(token.text)} display={token.display} />
        </Suspense>
      );
    case 'html': // HTML is shown as text; only line breaks are interpreted, because they are common in tables.
      return /^<br *\/?>$/i.test(token.raw) ? <br /> : withoutCites(token.raw);
    default:
      return withoutCites(token.raw);
  }
}

function SentenceMark({ index }: { index: number }) {
  return use(SentenceMarks)?.(index);
}

/** Opens outside the window, and shows its target if the link text does not. */
function TextLink({ href, tokens, text }: { href: string; tokens: readonly MarkdownToken[]; text: string }) {
  const link = safeLink(href);
  if (!link) return <Inline tokens={tokens} />;
  return (
    <a href={link.href} title={link.href} target="_blank" rel="noopener noreferrer nofollow">
      <Inline tokens={tokens} />
      {!text.includes(link.target) && <span className={classes.target}> ({link.target})</span>}
    </a>
  );
}

/** Images are never loaded; they are named, and linked if that is safe. */
function MissingImage({ href, text }: { href: string; text: string }) {
  const { t } = useTranslation('chat');
  const link = safeLink(href);
  const label = text === '' ? t('markdown.image') : t('markdown.imageNamed', { name: text });
  return (
    <span className={classes.image}>
      <IconPhotoOff size={14} aria-hidden /> {label}
      {link && (
        <a href={link.href} title={link.href} target="_blank" rel="noopener noreferrer nofollow">
          {link.target}
        </a>
      )}
    </span>
  );
}
