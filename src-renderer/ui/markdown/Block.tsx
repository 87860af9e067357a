import { lazy, memo, Suspense, type ReactNode } from 'react';
import { Checkbox } from '@mantine/core';
import { CodeBlock } from './CodeBlock.tsx';
import { Inline } from './Inline.tsx';
import { childrenOf, withoutCites, type MarkdownToken, type MathToken, type Tokens } from './tokens.ts';
import classes from './Markdown.module.css';

const Formula = lazy(() => import('./Formula.tsx'));

/** Renders one Markdown block as React elements; the source is never interpreted as HTML. */
export function Block({ token }: { token: MarkdownToken }): ReactNode {
  switch (token.type) {
    case 'heading':
      return <Heading token={token} />;
    case 'paragraph':
      return (
        <p>
          <Inline tokens={childrenOf(token)} />
        </p>
      );
    case 'text': // a line of a tight list item
      return <Inline tokens={token.tokens ? childrenOf(token) : [token]} />;
    case 'code':
      return <CodeBlock code={withoutCites(token.text)} language={token.lang ?? ''} />;
    case 'math':
      return <MathBlock token={token} />;
    case 'list':
      return <List token={token} />;
    case 'blockquote':
      return (
        <blockquote>
          <Blocks tokens={childrenOf(token)} />
        </blockquote>
      );
    case 'table':
      return <Table token={token} />;
    case 'hr':
      return <hr />;
    case 'html':
      return <p className={classes.raw}>{withoutCites(token.text)}</p>;
    case 'space':
    case 'def':
      return null;
    default:
      return <Inline tokens={[token]} />;
  }
}

function Blocks({ tokens }: { tokens: readonly MarkdownToken[] }) {
  return tokens.map((token, index) => <Block key={index} token={token} />);
}

/** Below the message's heading. Models start with any depth, so the first three share a level and differ in size. */
function Heading({ token }: { token: Tokens.Heading | Tokens.Generic }) {
  const depth = Number(token.depth);
  const Tag = depth <= 3 ? 'h3' : depth === 4 ? 'h4' : 'h5';
  return (
    <Tag data-depth={depth}>
      <Inline tokens={childrenOf(token)} />
    </Tag>
  );
}

function MathBlock({ token }: { token: MathToken }) {
  if (!token.closed) return <p className={classes.raw}>{withoutCites(token.text)}</p>;
  return (
    <Suspense fallback={<p className={classes.raw}>{withoutCites(token.text)}</p>}>
      <Formula source={withoutCites(token.text)} display />
    </Suspense>
  );
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => <ListItem key={index} item={item} raw={item.raw} />);
  if (!token.ordered) return <ul>{items}</ul>;
  return <ol start={token.start === '' ? 1 : token.start}>{items}</ol>;
}

const ListItem = memo(
  function ListItem({ item }: { item: Tokens.ListItem; raw: string }) {
    const tokens = childrenOf(item).filter(({ type }) => type !== 'checkbox');
    return (
      <li className={item.task ? classes.task : undefined}>
        {item.task && (
          <Checkbox size="xs" checked={item.checked === true} readOnly tabIndex={-1} aria-hidden />
        )}
        <Blocks tokens={tokens} />
      </li>
    );
  },
  (a, b) => a.raw === b.raw && a.item.loose === b.item.loose,
);

function Table({ token }: { token: Tokens.Table }) {
  return (
    // Focusable, so that arrow keys can scroll a table that is wider than the page.
    <div className={classes.table} tabIndex={0} role="region">
      <table>
        <thead>
          <TableRow cells={token.header} />
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <TableRow key={index} cells={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const TableRow = memo(
  function TableRow({ cells }: { cells: readonly Tokens.TableCell[] }) {
    return (
      <tr>
        {cells.map((cell, index) => {
          const Tag = cell.header ? 'th' : 'td';
          return (
            <Tag key={index} style={cell.align ? { textAlign: cell.align } : undefined}>
              <Inline tokens={childrenOf(cell)} />
            </Tag>
          );
        })}
      </tr>
    );
  },
  (a, b) => a.cells.length === b.cells.length && a.cells.every(({ text }, i) => text === b.cells[i]?.text),
);
