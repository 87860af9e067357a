/**
 * Measures text recognition on 60 pages of A4 at 200 dpi that Chromium renders: three languages, five fonts or layouts, two sizes, each
 * page clean (PNG) and degraded (recognition/degrade.ts, then JPEG at quality 35), with a fixed seed. The character error rate is
 * explained in src-main/testing/error-rate.ts; targets: 3 % of clean pages, 10 % of degraded ones.
 *
 *   apt-get install fonts-liberation2 fonts-dejavu fonts-noto-cjk fonts-arphic-uming fonts-wqy-microhei
 *   npm run bench:recognition -- [--only LANGUAGE] [--keep FOLDER] [--out FILE.json]
 *
 * --keep: writes the pages and the recognised texts into FOLDER; pages that are there already are used.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { chromium, type Page } from 'playwright-core';
import { launchOptions } from '../e2e/window/support/browsers.ts';
import { recognisePage } from '../src-main/library/recognition/recognise.ts';
import { loadTesseract } from '../src-main/library/recognition/tesseract.ts';
import { errorRate } from '../src-main/testing/error-rate.ts';
import { randomFrom } from '../src-main/testing/random.ts';
import { writeResult } from './lib/result.ts';
import { bmp, degrade } from './recognition/degrade.ts';
import { TEXTS } from './recognition/texts.ts';

const { values: args } = parseArgs({
  options: { only: { type: 'string' }, keep: { type: 'string' }, out: { type: 'string' } },
});

const LATIN = ['Liberation Serif', 'Liberation Sans', 'DejaVu Serif', 'DejaVu Sans', 'Liberation Serif'];
const FONTS = {
  en: LATIN,
  de: LATIN,
  zh: ['Noto Serif CJK SC', 'Noto Sans CJK SC', 'AR PL UMing CN', 'WenQuanYi Micro Hei', 'Noto Serif CJK SC'],
};
/** The last of the fonts is in two columns. */
const TWO_COLUMNS = 4;
const POINTS = [9.5, 12];
/** A4 in CSS pixels, and their scale for 200 dpi. */
const SHEET = { width: 794, height: 1123 };
const SCALE = 200 / 96;

interface Sheet {
  language: keyof typeof TEXTS;
  font: string;
  columns: number;
  points: number;
  text: string;
  name: string;
}

interface Row extends Omit<Sheet, 'text'> {
  quality: 'clean' | 'degraded';
  errorRate: number;
  confidence: number;
  cpuSeconds: number;
}

const folder = args.keep ?? mkdtempSync(join(tmpdir(), 'kvasir-recognition-'));
mkdirSync(folder, { recursive: true });
try {
  await bench();
} finally {
  if (args.keep === undefined) rmSync(folder, { recursive: true, force: true });
}

async function bench(): Promise<void> {
  const sheets = (Object.keys(TEXTS) as (keyof typeof TEXTS)[])
    .filter((language) => language === (args.only ?? language))
    .flatMap(sheetsOf);
  await render(sheets);
  const rows: Row[] = [];
  for (const { text, ...sheet } of sheets)
    for (const quality of ['clean', 'degraded'] as const) {
      const name = `${sheet.name}-${quality}.${quality === 'clean' ? 'png' : 'jpg'}`;
      const bytes = readFileSync(join(folder, name));
      const before = process.cpuUsage();
      const page = await recognisePage({ name, bytes }, name.slice(-3), 0);
      const { user, system } = process.cpuUsage(before);
      if (args.keep !== undefined) writeFileSync(join(folder, `${name}.txt`), page.text);
      const rate = errorRate(text, page.text, sheet.language);
      const { confidence } = page;
      rows.push({ ...sheet, quality, errorRate: rate, confidence, cpuSeconds: (user + system) / 1e6 });
      console.log(`${name}: ${percent(rate)}, confidence ${confidence.toFixed(0)}`);
    }
  report(rows);
}

function sheetsOf(language: keyof typeof TEXTS): Sheet[] {
  return FONTS[language].flatMap((font, i) =>
    POINTS.map((points, j) => {
      const columns = i === TWO_COLUMNS ? 2 : 1;
      const text = TEXTS[language][(i + j) % 2] ?? '';
      return { language, font, columns, points, text, name: `${language}-${i}-${points}` };
    }),
  );
}

async function render(sheets: readonly Sheet[]): Promise<void> {
  const missing = sheets.filter(({ name }) => !existsSync(join(folder, `${name}-degraded.jpg`)));
  if (missing.length === 0) return;
  const browser = await chromium.launch(launchOptions);
  const sharp = await browser.newPage({ viewport: SHEET, deviceScaleFactor: SCALE });
  const plain = await browser.newPage();
  for (const font of new Set(missing.map((sheet) => sheet.font))) {
    if (await hasFont(plain, font)) continue;
    console.error(`The font ${font} is not installed; the beginning of this file names the packages.`);
    process.exit(1);
  }
  const tesseract = await loadTesseract();
  for (const [seed, sheet] of missing.entries()) {
    await sharp.setContent(html(sheet));
    const png = await sharp.screenshot();
    writeFileSync(join(folder, `${sheet.name}-clean.png`), png);
    const picture = tesseract.decode(png);
    if (!picture) throw new Error('The page was not rendered');
    const jpeg = await jpegOf(plain, bmp(degrade(picture, randomFrom(seed + 1))), picture);
    writeFileSync(join(folder, `${sheet.name}-degraded.jpg`), jpeg);
  }
  await browser.close();
}

/** Without it, the browser takes the next one of the list. */
async function hasFont(page: Page, font: string): Promise<boolean> {
  const spans = ['serif', 'monospace'].map(
    (other) => `<span style="font: 20px '${font}', ${other}">Handglove 7</span>`,
  );
  await page.setContent(spans.join('<br>'));
  const [first, second] = await Promise.all([0, 1].map((i) => page.locator('span').nth(i).boundingBox()));
  return first?.width === second?.width;
}

function html({ language, font, columns, points, text }: Sheet): string {
  const paragraphs = text.split('\n').map((each) => `<p>${each.replace('&', '&amp;')}</p>`);
  return `<!doctype html><html lang="${language}"><body style="margin: 90px; font: ${points}pt/1.45 '${font}'; columns: ${columns};
    column-gap: 40px; text-align: justify">${paragraphs.join('')}</body></html>`;
}

async function jpegOf(page: Page, picture: Buffer, size: { width: number; height: number }): Promise<Buffer> {
  await page.setViewportSize({ width: size.width, height: size.height });
  await page.setContent(
    `<body style="margin: 0"><img src="data:image/bmp;base64,${picture.toString('base64')}">`,
  );
  return page.screenshot({ type: 'jpeg', quality: 35 });
}

function report(rows: readonly Row[]): void {
  const head = ['pages', 'n', 'mean CER', 'worst', 'confidence', 'CPU s a page'];
  const table = new Table({ head, style: { head: [], border: [] } });
  const groups = [...Map.groupBy(rows, ({ language, quality }) => `${language} ${quality}`)];
  const summary = groups.map(([group, of]) => {
    const mean = (value: (row: Row) => number): number =>
      of.reduce((sum, row) => sum + value(row), 0) / of.length;
    return {
      group,
      pages: of.length,
      errorRate: mean((row) => row.errorRate),
      worst: Math.max(...of.map((row) => row.errorRate)),
      confidence: mean((row) => row.confidence),
      cpuSeconds: mean((row) => row.cpuSeconds),
    };
  });
  for (const { group, pages, errorRate: rate, worst, confidence, cpuSeconds } of summary)
    table.push([group, pages, percent(rate), percent(worst), confidence.toFixed(0), cpuSeconds.toFixed(1)]);
  console.log(table.toString());
  writeResult('recognition', args.out, { summary, rows });
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}
