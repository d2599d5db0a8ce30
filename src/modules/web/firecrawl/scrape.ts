// Scrape: one page in all requested formats, fetched once and charged once, as web.fetch.
import { json, jsonFields } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';
import { chargeForPage } from '../fetch/charge.ts';
import { type RenderedPage, readSource, readWithSource } from '../fetch/rendered.ts';
import { structuredReader } from '../fetch/structured.ts';
import { CONTENT_BYTES_MAX, FETCH } from '../limits.ts';
import type { WebState } from '../state.ts';
import { metadataOf } from './answers.ts';
import { dataOf } from './calls.ts';
import { type ScrapeWish, scrapeWish, textField } from './options.ts';

/** As Firecrawl has it. */
const rendering = { render: 'auto', waitFor: null } as const;

export async function scrape(request: RawRequest, web: WebState): Promise<RawAnswer> {
  await request.admitCall(FETCH);
  const fields = jsonFields(request.body);
  const url = textField(fields, 'url');
  const wish = scrapeWish(fields);
  let document: object = {};
  const { costNanos = 0n } = await request.perform(FETCH, (ctx) =>
    chargeForPage(ctx, web, rendering, async () => {
      ctx.idle();
      const options = { signal: ctx.signal, hold: (bytes: number) => ctx.holdAnswer(bytes) };
      const [one, ...others] = formatsOf(wish);
      const of = { url, mainContent: wish.mainContent, bytesMax: CONTENT_BYTES_MAX, links: false };
      const asked = { ...of, ...rendering, format: one, links: wish.links };
      const { page: first, source } = await readWithSource(web, ctx.accountId, asked, options);
      const pages = new Map<string, RenderedPage>([[one, first]]);
      for (const format of others)
        pages.set(format, await readSource(web, ctx.accountId, source, { ...of, format }, options));
      for (const page of pages.values()) ctx.holdMade(2 * page.content.length);
      const ask = wish.json === null ? null : structuredReader({ ...wish.json, format: 'json' });
      const made = ask === null ? null : await ask(ctx, pages.get('markdown') as RenderedPage);
      document = {
        ...Object.fromEntries(wish.texts.map((format) => [format, pages.get(format)?.content])),
        ...(wish.links && { links: first.links }),
        ...(made !== null && { json: made.json }),
        metadata: metadataOf(first, url),
      };
      return { text: '{}', rendered: first.rendered };
    }),
  );
  if (wish.screenshot === null) return { ...json({ success: true, data: document }), costNanos };
  const shot = await screenshotOf(request, url, wish.screenshot.fullPage);
  const data = { ...document, screenshot: shot.url };
  return { ...json({ success: true, data }), costNanos: costNanos + shot.costNanos };
}

/** A call of its own, at its own price. */
async function screenshotOf(request: RawRequest, url: string, fullPage: boolean) {
  const { answer, problem } = await request.invoke('web.screenshot', { url, full_page: fullPage });
  if (answer === null) throw problem as Problem;
  return { url: dataOf<{ url: string }>(answer).url, costNanos: answer.costNanos ?? 0n };
}

type Format = 'markdown' | 'html';

/** At least one: what is told of a page is read with it. A model reads Markdown. */
function formatsOf({ texts, json: wanted }: ScrapeWish): [Format, ...Format[]] {
  const formats = texts.filter((format) => format !== 'text') as Format[];
  const all = wanted !== null || formats.length === 0 ? new Set<Format>(['markdown', ...formats]) : new Set(formats);
  return [...all] as [Format, ...Format[]];
}
