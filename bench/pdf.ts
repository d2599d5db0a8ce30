// What does the service add to making a PDF, and what do others notice of it? A report of six pages by calls of pdf.create against the bare
// layout in this process; and publishes of another account beside two connections that make such reports without end, against the same alone.
import { createDocument } from '../src/modules/pdf/engine/document/document.ts';
import { pageFormat } from '../src/modules/pdf/page.ts';
import { BODY, QUEUE } from './support/flows.ts';
import { type Flow, type LoadResult, load, post } from './support/load.ts';
import { median, print, ratioRow } from './support/report.ts';
import { startBenchService } from './support/service.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);

const rows = Array.from({ length: 160 }, (_, n) => `<tr><td>Item ${n}</td><td>${n * 7}</td><td>${n / 3}</td></tr>`);
const paragraph = `<p>${'The quick brown fox jumps over the lazy dog, and then it rests. '.repeat(10)}</p>`;
const content = `<h1>Report</h1>${paragraph.repeat(6)}<table><thead><tr><th>Name</th><th>Count</th><th>Share</th></tr></thead>${rows.join('')}</table>`;
const task = {
  ...({ kind: 'create', type: 'html', content, engine: 'document', page: pageFormat('A4', false, {}) } as const),
  header: null,
  footer: null,
  title: null,
  assets: [],
  onlyPages: null,
  scale: 1,
  pagesMax: 500,
  chromiumPath: null,
  browserFolder: null,
  browserMb: 0,
  fontsFolder: null,
};
const nothing = async () => ({ bytes: null, contentType: null, status: 0, message: '' });

/** Pages of one report, made again and again for so long, a second. */
async function perSecond(make: () => Promise<number>): Promise<number> {
  const begunMs = performance.now();
  let pages = 0;
  while (performance.now() - begunMs < SECONDS * 1_000) pages += await make();
  return pages / ((performance.now() - begunMs) / 1_000);
}

const service = await startBenchService(2);
const [maker, publisher] = service.accounts;
if (maker === undefined || publisher === undefined) throw new Error('no accounts');
const sent = { type: 'html', content };
const create = async () => {
  const { data } = (await service.call(maker.secret, '/v1/pdf/create', sent)) as { data: { pages: number } };
  return data.pages;
};
const bare = async () => (await createDocument(task, nothing)).pdf.pages;
await service.call(publisher.secret, '/v1/queue/create', { name: QUEUE });

const publishing = post(service.url, '/v1/queue/publish', publisher.secret, BODY);
const flow: Flow = { next: () => publishing };
const publish = (): Promise<LoadResult> => load({ url: service.url, connections: 8, seconds: SECONDS, flow });

async function beside(): Promise<LoadResult> {
  let goesOn = true;
  const making = [1, 2].map(async () => {
    while (goesOn) await create();
  });
  const result = await publish();
  goesOn = false;
  await Promise.all(making);
  return result;
}

await Promise.all([create(), bare()]);
const made: { bare: number; calls: number; alone: LoadResult; beside: LoadResult }[] = [];
for (let round = 0; round < ROUNDS; round += 1)
  made.push({
    bare: await perSecond(bare),
    calls: await perSecond(create),
    alone: await publish(),
    beside: await beside(),
  });

const ms = (of: (round: (typeof made)[number]) => number) => `${median(made.map(of)).toFixed(1)} ms`;
print('PDFs: a report of six pages, one connection', [
  ratioRow(
    'pages a second: pdf.create / the bare layout',
    made.map(({ calls, bare: alone }) => calls / alone),
    0.7,
  ),
  { what: 'pages a second by calls', value: median(made.map(({ calls }) => calls)).toFixed(0) },
  {
    what: 'publishes of another account: p50 alone, beside two makers',
    value: `${ms(({ alone }) => alone.p50Ms)}, ${ms(({ beside: of }) => of.p50Ms)}`,
  },
  { what: 'the same, p99', value: `${ms(({ alone }) => alone.p99Ms)}, ${ms(({ beside: of }) => of.p99Ms)}` },
  ratioRow(
    'publishes a second: beside / alone',
    made.map(({ alone, beside: of }) => of.rate / alone.rate),
  ),
  { what: 'memory of the service after it', value: `${service.memoryMb().toFixed(0)} MB` },
]);
await service.stop();
