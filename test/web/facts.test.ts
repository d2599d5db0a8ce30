// What is kept of thirty saved pages, and what of the pages around them: the table stands in docs/performance.md.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { read } from '../../src/modules/web/read/page.ts';
import { PAGES, type PageFacts } from './page-facts.ts';
import { reportPdf } from './page-pdf.ts';

const stands = (fact: string | RegExp, content: string) =>
  typeof fact === 'string' ? content.includes(fact) : fact.test(content);

async function contentOf({ file }: PageFacts): Promise<string> {
  const isPdf = file.endsWith('.pdf');
  const bytes = isPdf
    ? await reportPdf()
    : new Uint8Array(readFileSync(new URL(`./pages/${file}.html`, import.meta.url)));
  const { content } = await read({
    ...{ bytes, contentType: isPdf ? 'application/pdf' : 'text/html', url: `https://site.example/${file}` },
    ...{ format: 'markdown', mainContent: true, links: false, bytesMax: 1_048_576 },
  });
  return content;
}

test('of 90 facts on 30 pages at least 85 are kept, of 30 pieces around them at most 5', {
  timeout: 20_000,
}, async () => {
  const rows = await Promise.all(
    PAGES.map(async (page) => {
      const content = await contentOf(page);
      const lost = page.facts.filter((fact) => !stands(fact, content)).map(String);
      return { page: page.file, kept: 3 - lost.length, chrome: stands(page.chrome, content), lost: lost.join(' ; ') };
    }),
  );
  const kept = rows.reduce((sum, row) => sum + row.kept, 0);
  const chrome = rows.filter((row) => row.chrome).map(({ page }) => page);
  console.table(rows);
  console.log(`${kept} of 90 facts kept; ${chrome.length} of 30 pieces around them kept: ${chrome.join(', ')}`);
  expect({ kept, chrome: chrome.length }).toSatisfy(() => kept >= 85 && chrome.length <= 5);
});
