// What does it cost to read a page, and what is kept of it? Thirty saved pages of thirty kinds, read by the kernel of web.fetch and, right
// beside it, by linkedom, Readability and Turndown as they come; in processor time of this process, after two rounds to warm up.
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { readPage } from '../src/modules/web/read/page.ts';
import { factsIn, PAGES, savedPage } from '../test/web/page-facts.ts';
import { median, print, ratioRow } from './support/report.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const WARM_UPS = 2;
const MS_MAX = 200;

const pages = await Promise.all(
  PAGES.map(async (page) => ({ ...page, bytes: await savedPage(page.file), isPdf: page.file.endsWith('.pdf') })),
);
type Page = (typeof pages)[number];

async function ours({ bytes, isPdf, file }: Page): Promise<string> {
  const { content } = await readPage({
    bytes: bytes.slice(),
    contentType: isPdf ? 'application/pdf' : 'text/html',
    url: `https://site.example/${file}`,
    format: 'markdown',
    mainContent: true,
    links: true,
    bytesMax: 1_048_576,
  });
  return content;
}

async function bare({ bytes }: Page): Promise<string> {
  const { document } = parseHTML(Buffer.from(bytes).toString('utf8'));
  const article = new Readability(document as never).parse();
  return new TurndownService().turndown(article?.content || '<p></p>');
}

/** Milliseconds of the processor. */
async function costOf(work: () => Promise<string>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const html = pages.filter(({ isPdf }) => !isPdf);
const costs = { ours: pages.map((): number[] => []), bare: html.map((): number[] => []) };
for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
  for (const [at, page] of pages.entries()) {
    const cost = await costOf(() => ours(page));
    if (round >= 0) costs.ours[at]?.push(cost);
  }
  for (const [at, page] of html.entries()) {
    const cost = await costOf(() => bare(page));
    if (round >= 0) costs.bare[at]?.push(cost);
  }
}

const each = { ours: costs.ours.map(median), bare: costs.bare.map(median) };
const ms = (value: number) => `${value.toFixed(1)} ms`;
async function keptBy(work: (page: Page) => Promise<string>, of: readonly Page[]): Promise<string> {
  const found = await Promise.all(of.map(async (page) => factsIn(page, await work(page))));
  const kept = found.reduce((sum, { lost }) => sum + 3 - lost.length, 0);
  return `${kept} of ${3 * of.length} facts, ${found.filter(({ chrome }) => chrome).length} of ${of.length} pieces around`;
}

print('reading a page: 29 of HTML, and a PDF', [
  { what: 'kept', value: await keptBy(ours, pages), target: '≥ 75 of 90' },
  { what: 'kept by Readability and Turndown alone, of HTML', value: await keptBy(bare, html) },
  {
    what: 'processor for a page, median',
    value: ms(median(each.ours)),
    target: `≤ ${MS_MAX} ms`,
    met: median(each.ours) <= MS_MAX,
  },
  {
    what: 'processor for a page, worst',
    value: ms(Math.max(...each.ours)),
    target: `≤ ${MS_MAX} ms`,
    met: Math.max(...each.ours) <= MS_MAX,
  },
  {
    what: 'the same by the libraries alone, median and worst',
    value: `${ms(median(each.bare))}, ${ms(Math.max(...each.bare))}`,
  },
  ratioRow(
    'processor of this / of the libraries alone',
    html.map((_, at) => (each.ours[at] as number) / (each.bare[at] as number)),
  ),
]);
