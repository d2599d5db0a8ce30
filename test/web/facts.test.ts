// What is kept of thirty saved pages, and what of the pages around them. The libraries alone keep 69 facts.
import { expect, test } from 'vitest';
import { readPage } from '../../src/modules/web/read/page.ts';
import { factsIn, PAGES, savedPage } from './page-facts.ts';

async function contentOf(file: string, mainContent: boolean): Promise<string> {
  const { content } = await readPage({
    bytes: await savedPage(file),
    contentType: file.endsWith('.pdf') ? 'application/pdf' : 'text/html',
    url: `https://site.example/${file}`,
    format: 'markdown',
    mainContent,
    links: false,
    bytesMax: 1_048_576,
  });
  return content;
}

test('of 90 facts on 30 pages at least 85 are kept, of 30 pieces around them at most 5', {
  timeout: 20_000,
}, async () => {
  const rows = await Promise.all(
    PAGES.map(async (page) => ({ page: page.file, ...factsIn(page, await contentOf(page.file, true)) })),
  );
  const kept = rows.reduce((sum, { lost }) => sum + 3 - lost.length, 0);
  const around = rows.filter(({ chrome }) => chrome).map(({ page }) => page);
  console.table(rows.filter(({ lost, chrome }) => lost.length > 0 || chrome));
  console.log(`${kept} of 90 facts kept, ${around.length} of 30 pieces around them`);
  expect(kept).toBeGreaterThanOrEqual(85);
  expect(around.length).toBeLessThanOrEqual(5);
});

test('the whole page has all facts too', async () => {
  const rows = await Promise.all(
    PAGES.map(async (page) => ({
      page: page.file,
      ...factsIn(page, await contentOf(page.file, false)),
    })),
  );
  expect(rows.filter(({ lost }) => lost.length > 0)).toEqual([]);
});
