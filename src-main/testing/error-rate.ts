/**
 * Character error rate: the least insertions, deletions and substitutions that lead from the truth to the text, as a share of the truth's
 * characters. Compatible forms, kinds of quotation marks and dashes, and kinds of white space are the same; Chinese has no white space.
 */
export function errorRate(truth: string, text: string, language: string): number {
  const a = normal(truth, language);
  const b = normal(text, language);
  let before = Uint32Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = new Uint32Array(b.length + 1);
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const changed = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min((before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed);
    }
    before = row;
  }
  return (before[b.length] ?? 0) / a.length;
}

function normal(text: string, language: string): string[] {
  const plain = text.normalize('NFKC').replace(/[“”„]/g, '"').replace(/[‘’]/g, "'").replace(/[–—]/g, '-');
  return Array.from(language === 'zh' ? plain.replace(/\s+/g, '') : plain.replace(/\s+/g, ' ').trim());
}
