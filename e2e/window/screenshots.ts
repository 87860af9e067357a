// `npm run screenshots [-- --out FOLDER --language zh]`: pictures of every screen, large and small, light and dark, of the real app with
// the sample library, in docs/screenshots/. For people to look at: nothing compares them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';
import { startApp, temporaryFolder } from './support/app.ts';
import { CHROMIUM, launchOptions, NO_BROWSER } from './support/browsers.ts';
import { en } from '../../src-renderer/i18n/words.ts';
import { zh } from '../../src-renderer/i18n/zh/index.ts';
import { openHub } from './support/hub.ts';
import { ROOT } from './support/root.ts';
import { homeOf } from './support/test.ts';
import { addViewerDocuments } from './support/viewer-documents.ts';

const { values: flags } = parseArgs({
  options: { out: { type: 'string' }, language: { type: 'string', default: 'en' } },
});
/** Labels come from the window's texts. */
const words = flags.language === 'zh' ? zh : en;
/** The strip below an answer shows "about" only for estimates. */
const measured = new RegExp(words.chat.stats.insteadMeasured.replace('{{time}}', '\\d'));
const OUT = resolve(flags.out ?? join(ROOT, 'docs', 'screenshots'));
const LARGE = { width: 1440, height: 900 };
const QUESTIONS = [
  'Where does Project Polaris run?',
  'Who leads Project Polaris?',
  'Where does Project Ocelot run?',
];
const SMALL = { width: 1024, height: 700 };

interface Shot {
  name: string;
  route: string;
  /** Actions before the screenshot. */
  prepare?: (page: Page) => Promise<void>;
}

interface Addresses {
  answered: string;
  analysed: string;
  documents: ReadonlyMap<string, string>;
}

/** Addresses of a conversation with an answer, of an analysis, and of documents of each viewer by their names. */
function shots({ answered, analysed, documents }: Addresses): Shot[] {
  return [
    { name: 'welcome', route: '/' },
    { name: 'chat', route: answered },
    { name: 'sources', route: answered, prepare: unfoldAnswer },
    { name: 'fusion', route: answered, prepare: openReport },
    { name: 'fusion-wide', route: answered, prepare: openWideReport },
    { name: 'compare', route: answered, prepare: openComparison },
    { name: 'compare-deep', route: answered, prepare: openDeepFigures },
    { name: 'analysis-new', route: '/analysis/new' },
    { name: 'analysis', route: analysed },
    { name: 'library', route: '/library/1' },
    { name: 'document', route: '/library/1', prepare: openDocument },
    { name: 'search', route: '/search', prepare: search },
    { name: 'cache', route: '/cache' },
    { name: 'models', route: '/models' },
    { name: 'discover', route: '/models/discover', prepare: seeSuggestions },
    { name: 'repository', route: '/models/discover/ada/Tiny-GGUF', prepare: seeFiles },
    { name: 'settings', route: '/settings', prepare: openAnswerSettings },
    { name: 'palette', route: '/library', prepare: (page) => page.keyboard.press('Control+K') },
    ...[...documents].map(([name, route]) => ({ name: `view-${extname(name).slice(1)}`, route })),
  ];
}

if (CHROMIUM === undefined) {
  console.error(NO_BROWSER);
  process.exit(1);
}
mkdirSync(OUT, { recursive: true });
const folder = temporaryFolder();
const hub = await openHub();
writeFileSync(join(folder.path, 'settings.json'), JSON.stringify({ hubAddress: hub.address }));
const app = await startApp(folder.path);
const browser = await chromium.launch(launchOptions);
const context = await browser.newContext({
  viewport: LARGE,
  locale: flags.language === 'zh' ? 'zh-CN' : 'en-US',
});
try {
  const page = await context.newPage();
  await page.goto(app.url);
  await page.getByText(words.welcome.steps.cacheDone).waitFor({ timeout: 120_000 });
  await take(page, 'welcome-first', 'light');
  // Users read before they click; meanwhile the caches are loaded into memory.
  await page.waitForTimeout(5000);
  const answered = await askTheFirst(page);
  await compare(page);
  const analysed = await analyse(page);
  const documents = await addViewerDocuments(page, join(folder.path, 'kinds'), 'http://127.0.0.1:9');
  const addresses = { answered, analysed, documents };
  for (const scheme of ['light', 'dark'] as const) {
    for (const shot of shots(addresses)) {
      await show(page, shot, scheme);
      await take(page, shot.name, scheme);
    }
  }
  await page.setViewportSize(SMALL);
  for (const scheme of ['light', 'dark'] as const) {
    for (const shot of shots(addresses)) {
      await show(page, shot, scheme);
      await take(page, `${shot.name}-small`, scheme);
    }
  }
} finally {
  await browser.close();
  await app.stop();
  hub.close();
  folder.remove();
}
console.log(`Pictures are in ${OUT}.`);

async function askTheFirst(page: Page): Promise<string> {
  await page.getByRole('region', { name: words.welcome.try }).getByRole('button').first().click();
  await unfoldAnswer(page);
  await page.getByRole('button', { name: words.chat.stats.measure }).click();
  await page.getByRole('group', { name: words.chat.stats.label }).getByText(measured).waitFor();
  return new URL(page.url()).hash.slice(1);
}

/** Expands the line below the answer, which has the sources and statistics. */
async function unfoldAnswer(page: Page): Promise<void> {
  const foot = page.getByRole('group', { name: words.chat.stats.label });
  await foot.locator('button[aria-expanded=false]').first().click();
}

/** Runs a comparison of every layer: the figures stay with the report. */
async function compare(page: Page): Promise<void> {
  await openReport(page);
  await page.getByRole('button', { name: words.compare.open, exact: true }).click();
  const comparison = page.getByRole('region', { name: words.compare.title, exact: true });
  await comparison.getByRole('checkbox', { name: words.compare.deep }).check();
  await comparison.getByRole('button', { name: words.compare.start, exact: true }).click();
  await comparison.getByRole('article').nth(2).waitFor({ timeout: 120_000 });
}

async function analyse(page: Page): Promise<string> {
  await page.goto(`${homeOf(page)}#/analysis/new?kind=questions`);
  const field = page.getByRole('textbox', { name: words.analysis.form.questions });
  await field.fill(QUESTIONS.join('\n'));
  await field.press('Control+Enter');
  await page.getByRole('table', { name: words.analysis.table.label }).waitFor();
  await page
    .getByRole('button', { name: words.common.action.stop })
    .waitFor({ state: 'hidden', timeout: 120_000 });
  return new URL(page.url()).hash.slice(1);
}

async function seeSuggestions(page: Page): Promise<void> {
  await page.getByRole('heading', { name: words.hub.start }).waitFor();
}

async function seeFiles(page: Page): Promise<void> {
  await page.getByRole('listitem', { name: 'Q4_K_M', exact: true }).waitFor();
}

async function show(page: Page, { route, prepare }: Shot, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.goto(`${homeOf(page)}#/`);
  await page.goto(`${homeOf(page)}#${route}`);
  await page.reload();
  await page.waitForLoadState('networkidle');
  await prepare?.(page);
}

async function take(page: Page, name: string, scheme: string): Promise<void> {
  await page.mouse.move(0, 0);
  // Charts are drawn in the frame after their data.
  await page.waitForTimeout(700);
  await page.screenshot({ path: join(OUT, `${name}-${scheme}.png`) });
  console.log(`  ${name}-${scheme}.png`);
}

async function openReport(page: Page): Promise<void> {
  await unfoldAnswer(page);
  await page.getByRole('button', { name: words.common.action.details }).click();
  await page.getByRole('heading', { name: words.fusion.waterfall.title }).waitFor();
  // The window remembers the previous width.
  const narrow = page.getByRole('button', { name: words.chat.report.narrow });
  if (await narrow.isVisible()) await narrow.click();
}

async function openWideReport(page: Page): Promise<void> {
  await openReport(page);
  const widen = page.getByRole('button', { name: words.chat.report.wide });
  if (await widen.isVisible()) await widen.click();
  await page.getByRole('heading', { name: words.fusion.tokens.title }).scrollIntoViewIfNeeded();
}

async function openComparison(page: Page): Promise<void> {
  await openWideReport(page);
  await page.getByRole('button', { name: words.compare.open, exact: true }).click();
  await page.getByRole('article', { name: words.compare.kind.full }).scrollIntoViewIfNeeded();
}

async function openDeepFigures(page: Page): Promise<void> {
  await openComparison(page);
  await page.getByRole('region', { name: words.compare.heat.title, exact: true }).scrollIntoViewIfNeeded();
}

async function openDocument(page: Page): Promise<void> {
  await page.getByRole('searchbox', { name: words.library.documents.search }).fill('Oakfield');
  await page.getByText('The Oakfield House').first().dblclick();
  await page.waitForURL(/#\/document\//, { timeout: 5000 }).catch(() => page.keyboard.press('Enter'));
}

async function search(page: Page): Promise<void> {
  const box = page.getByRole('searchbox').or(page.getByRole('textbox')).first();
  // With documents of one's own, the sample library is left out.
  await box.fill('Who trims the lamp at dusk?');
  await page.keyboard.press('Enter');
  await page.locator('mark').first().waitFor();
}

async function openAnswerSettings(page: Page): Promise<void> {
  await page.getByRole('button', { name: words.settings.sections.answers }).click();
}
