// Routes of the Firecrawl API, version 2, as its clients speak it. Each request is a call of the capability that does the same, with its scope,
// rate and price.
import { bearer } from '../../../core/credentials/http-schemes.ts';
import { json, jsonFields } from '../../../kit/openai-wire.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';
import { LINKS_MAX, RESULTS_MAX } from '../limits.ts';
import type { WebState } from '../state.ts';
import { refuse } from './answers.ts';
import { dataOf } from './calls.ts';
import { activeCrawls, cancelCrawl, ROOT, readCrawl, readErrors, startBatch, startCrawl } from './crawls.ts';
import { checkOptions, textField, wholeField } from './options.ts';
import { scrape } from './scrape.ts';

const BODY_BYTES_MAX = 64 * 1024;

type Serve = (request: RawRequest, web: WebState) => Promise<RawAnswer>;

const route = (path: string, by: Readonly<Partial<Record<'GET' | 'POST' | 'DELETE', Serve>>>): RawRoute<WebState> => ({
  name: 'web.firecrawl',
  methods: Object.keys(by) as (keyof typeof by)[],
  path: `${ROOT}${path}`,
  capability: null,
  bodyBytesMax: BODY_BYTES_MAX,
  credentialOf: bearer,
  refuse,
  answer: (request, web) => (by[request.method as keyof typeof by] as Serve)(request, web),
});

export const firecrawlRoutes: readonly RawRoute<WebState>[] = [
  route('/scrape', { POST: scrape }),
  route('/map', { POST: map }),
  route('/search', { POST: search }),
  route('/crawl', { POST: startCrawl }),
  route('/crawl/active', { GET: activeCrawls }),
  route('/crawl/{id}', { GET: readCrawl('crawl'), DELETE: cancelCrawl }),
  route('/crawl/{id}/errors', { GET: readErrors }),
  route('/batch/scrape', { POST: startBatch }),
  route('/batch/scrape/{id}', { GET: readCrawl('batch/scrape'), DELETE: cancelCrawl }),
  route('/batch/scrape/{id}/errors', { GET: readErrors }),
];

async function callCapability<Data>(request: RawRequest, capability: string, input: Readonly<Record<string, unknown>>) {
  const { answer, problem } = await request.invoke(capability, input);
  if (answer === null) throw problem as Problem;
  return { data: dataOf<Data>(answer), costNanos: answer.costNanos ?? 0n };
}

async function map(request: RawRequest): Promise<RawAnswer> {
  await request.admitCall('web.map');
  const fields = jsonFields(request.body);
  checkOptions(fields);
  const input = {
    url: textField(fields, 'url'),
    limit: Math.max(1, wholeField(fields, 'limit', LINKS_MAX) ?? LINKS_MAX),
  };
  const { data, costNanos } = await callCapability<{ links: readonly string[] }>(request, 'web.map', input);
  const word = typeof fields.search === 'string' ? fields.search.toLowerCase() : '';
  const links = data.links.filter((link) => link.toLowerCase().includes(word)).map((url) => ({ url }));
  return { ...json({ success: true, links }), costNanos };
}

interface Results {
  readonly items: readonly { readonly title: string; readonly url: string; readonly snippet: string }[];
}

async function search(request: RawRequest): Promise<RawAnswer> {
  await request.admitCall('web.search');
  const fields = jsonFields(request.body);
  checkOptions(fields);
  // Reading the results is a call of its own.
  checkOptions({ actions: fields.scrapeOptions === undefined ? null : fields.scrapeOptions }, 'scrapeOptions.');
  const count = wholeField(fields, 'limit', RESULTS_MAX);
  const input = { query: textField(fields, 'query'), ...(count !== undefined && { count: Math.max(1, count) }) };
  const { data, costNanos } = await callCapability<Results>(request, 'web.search', input);
  const web = data.items.map(({ title, url, snippet }, i) => ({ url, title, description: snippet, position: i + 1 }));
  return { ...json({ success: true, data: { web } }), costNanos };
}
