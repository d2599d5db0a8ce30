// Scrape: one page in all requested formats, fetched once and charged once, as web.fetch.
import { chargeForAnswer } from '../../../core/wallet/charge/charge-answer.ts';
import { json, jsonFields } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';
import { getPage, type Page, readGot } from '../fetch/page.ts';
import { structuredReader } from '../fetch/structured.ts';
import { CONTENT_BYTES_MAX, FETCH } from '../limits.ts';
import type { WebState } from '../state.ts';
import { metadataOf } from './answers.ts';
import { dataOf } from './calls.ts';
import { type ScrapeWish, scrapeWish, textField } from './options.ts';

export async function scrape(request: RawRequest, web: WebState): Promise<RawAnswer> {
  await request.admitCall(FETCH);
  const fields = jsonFields(request.body);
  const url = textField(fields, 'url');
  const wish = scrapeWish(fields);
  let document: object = {};
  const { costNanos = 0n } = await request.perform(FETCH, (ctx) =>
    chargeForAnswer(ctx, web.fetching, 1n, async () => {
      ctx.idle();
      const got = await getPage(web, ctx.accountId, url, ctx.signal, (bytes) => ctx.holdAnswer(bytes));
      const readAs = async (format: 'markdown' | 'html', links: boolean) => {
        // A thread takes the bytes that it is given.
        const copy = { ...got, bytes: Buffer.from(got.bytes) };
        const of = { url, format, links, mainContent: wish.mainContent, bytesMax: CONTENT_BYTES_MAX };
        return readGot(web, ctx.accountId, copy, of, ctx.signal);
      };
      const pages = new Map<string, Page>();
      for (const format of formatsOf(wish)) pages.set(format, await readAs(format, wish.links && pages.size === 0));
      const [first] = pages.values() as Iterable<Page>;
      for (const page of pages.values()) ctx.holdMade(2 * page.content.length);
      const ask = wish.json === null ? null : structuredReader({ ...wish.json, format: 'json' });
      const made = ask === null ? null : await ask(ctx, pages.get('markdown') as Page);
      document = {
        ...Object.fromEntries(wish.texts.map((format) => [format, pages.get(format)?.content])),
        ...(wish.links && { links: first?.links }),
        ...(made !== null && { json: made.json }),
        metadata: metadataOf(first as Page, url),
      };
      return '{}';
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

/** At least one: what is told of a page is read with it. A model reads Markdown. */
function formatsOf({ texts, json: wanted }: ScrapeWish): ('markdown' | 'html')[] {
  const formats = texts.filter((format) => format !== 'text') as ('markdown' | 'html')[];
  return wanted !== null || formats.length === 0 ? [...new Set(['markdown' as const, ...formats])] : formats;
}
