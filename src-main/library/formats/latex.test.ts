import { expect, test } from 'vitest';
import type { ParsedDocument } from './format.ts';
import { latex } from './latex.ts';

const read = async (source: string): Promise<ParsedDocument> =>
  await latex({ name: 'a.tex', bytes: Buffer.from(source) });

test('a document: title, sections, without commands and comments', async () => {
  const { text, title, warnings } = await read(
    `% draft\n\\documentclass{article}\n\\usepackage{x}\n\\newcommand{\\weir}{weir of Orm}\n\\title{The \\weir{} --- a study}\n\\author{Ida \\and Per}\n` +
      `\\begin{document}\n\\maketitle\n\\section{Stra\\ss e \\& K\\"{o}ln}\\label{s}\nRaised by 30~cm. % hidden\n\\subsection*{More}\n50\\% \\emph{of it}.\n` +
      `\\includegraphics[width=3cm]{a.png}\\input{chap1}\n\\end{document}\nnot read`,
  );
  expect(title).toBe('The weir of Orm — a study');
  expect(text).toBe(
    '# The weir of Orm — a study\n\nIda, Per\n\n## Straße & Köln\n\nRaised by 30\u00a0cm.\n\n### More\n\n50% of it.',
  );
  expect(warnings).toEqual([
    'Pictures were not read: 1.',
    'Files that it includes were not read with it: chap1.',
  ]);
});

test('a chapter about LaTeX has documents among its examples', async () => {
  const { text } = await read(
    '\\chapter{Errors}\nBefore.\n\\begin{verbatim}\n\\begin{document}\nx\n\\end{document}\n\\end{verbatim}\nAfter.',
  );
  expect(text).toBe('# Errors\n\nBefore.\n\n```\n\\begin{document}\nx\n\\end{document}\n```\n\nAfter.');
});

test.each([
  ['accents', `na\\"ive \\'{e} \\c{c} \\v s \\'\\i \\o \\aa{} \\AA`, 'naïve é ç š í øå Å'],
  ['quotes and dashes', "``a'' 1--2", '“a” 1–2'],
  [
    'notes and references',
    'x\\footnote{In \\emph{1611}.} \\cite[p.~3]{a}, \\ref{s}',
    'x [In 1611.] [a], [s]',
  ],
  ['links', '\\url{http://a.b/c_d%20} \\href{http://x}{text}', 'http://a.b/c_d%20 text'],
  [
    'formulas',
    '$a_b$ \\(c\\) \\[x^2\\] \\begin{equation}y\\end{equation}',
    '$a_b$ \\(c\\)\n\n\\[x^2\\]\n\n\\begin{equation}y\\end{equation}',
  ],
  [
    'lists',
    '\\begin{itemize}\\item a\\item[K] b\\begin{enumerate}\\item c\\item d\\end{enumerate}\\end{itemize}',
    '- a\n- K: b\n  1. c\n  2. d',
  ],
  [
    'tables',
    '\\begin{tabular}{lr}\\hline Town & m \\\\ \\hline Orm \\& Esk & 412 \\\\ % a & b\nHollin & 96\\end{tabular}',
    '- Town: Orm & Esk; m: 412\n- Town: Hollin; m: 96',
  ],
  ['code', '\\begin{verbatim}\n% kept \\x{\n\\end{verbatim} \\verb|a_b|', '```\n% kept \\x{\n```\n\na_b'],
  ['own commands', '\\newcommand{\\two}[2]{#1 and #2}\\def\\one{1}\\two{A}{B}, \\one', 'A and B, 1'],
  ['unknown commands', '\\foo[opt]{kept} {\\itshape it} \\vspace{2cm}a', 'kept it a'],
  ['comments', 'a\\begin{comment}no\\end{comment}b%\n  c', 'abc'],
  ['statements', '\\begin{theorem}[Orm]It holds.\\end{theorem}', 'Theorem (Orm). It holds.'],
])('%s', async (_, source, text) => {
  expect((await read(source)).text).toBe(text);
});

test('commands made to grow, and source that ends too early', async () => {
  const growing = '\\def\\a{\\a\\a x}\\a';
  expect((await read(growing)).text.length).toBeLessThan(100_000);
  for (const source of [
    '\\',
    '\\begin{',
    '\\begin{itemize}\\item x',
    '{{{{x',
    'x\\footnote{',
    '$x',
    '\\[x',
    '\\item[x',
    '\\verb|x',
    '\\def x',
  ])
    await read(`y ${source}`);
  await expect(read('% only\n')).rejects.toMatchObject({ code: 'DOCUMENT_NO_TEXT' });
});
