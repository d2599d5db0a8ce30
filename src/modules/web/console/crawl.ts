// One crawl: how it stands, what it cost, the pages that it has read, and the way to stop it. Content of pages is shown as text.
import { copiedId } from '../../../kit/console/copied.ts';
import { actForm } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, facts, figures, more, table } from '../../../kit/console/table.ts';
import { ago, count, money, short, sizeText } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { cancelCrawl } from '../capabilities/crawl/cancel.ts';
import { getCrawl } from '../capabilities/crawl/get.ts';
import { crawlStatus } from './crawls.ts';
import { CRAWLS } from './tabs.ts';

type Got = DataOf<typeof getCrawl>;
type CrawledPage = Got['items'][number];

/** Content may be 256 KiB a page: this many of them are read at once, and this much of each is shown. */
const ROWS = 10;
const SHOWN_CHARACTERS = 2_000;
/** The host is asked once a second. */
const AGAIN_SECONDS = 3;

const reasons: Readonly<Record<string, string>> = {
  insufficient_credit: 'The credit is used up.',
  budget_daily: 'The daily budget is used up.',
  budget_monthly: 'The monthly budget is used up.',
  key_cap: 'The key has spent what it may.',
  key_ended: 'The key that began it was revoked, or has expired.',
  insufficient_scope: 'The key that began it may no longer read pages.',
  suspended: 'The account is suspended.',
  frozen: 'The wallet is frozen.',
  time: 'It took an hour.',
};

export const crawlPage: ConsolePage = {
  name: 'web_crawl',
  path: `${CRAWLS}/{crawl_id}`,
  needs: getCrawl,
  isLive: true,
  show,
  acts: {
    cancel: {
      capability: cancelCrawl,
      input: (_, { params }) => ({ crawl_id: params.crawl_id }),
      done: 'Crawl cancelled.',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const { crawl_id } = visit.params;
  const crawl = await visit.need(getCrawl, { crawl_id, cursor: visit.query.get('cursor') ?? undefined, limit: ROWS });
  const isRunning = crawl.status === 'running';
  const cancel =
    isRunning && visit.may(cancelCrawl) ? actForm(visit, 'cancel', html`<button class="danger">Cancel</button>`) : '';
  const content = html`<p><a href="${visit.path(CRAWLS)}">Crawls</a></p>
<div class="head"><div class="head named"><h1 class="breaking">${short(crawl.url, 120)}</h1><p>${crawlStatus(crawl)}</p></div>${cancel}</div>
${crawl.reason === null ? '' : html`<p class="failure">${reasons[crawl.reason] ?? ''} <code>${short(crawl.reason, 80)}</code></p>`}
<section class="panel" aria-label="The crawl">${figures([
    ['Pages read', count(crawl.pages_read), `of ${count(crawl.limit)} at most`],
    ['Not read', count(crawl.pages_failed), 'free'],
    ['Cost', money(crawl.cost_usd)],
  ])}</section>
<h2>Pages</h2>
${pages(crawl)}${more(visit, crawl)}
${facts([
  ['ID', copiedId(crawl.crawl_id)],
  ['Links away at most', count(crawl.depth)],
  ['Begun', ago(visit, crawl.created_at)],
  [
    'Ended',
    crawl.finished_at === null ? null : html`${ago(visit, crawl.finished_at)}. It is kept for 24 hours from then.`,
  ],
])}`;
  return { title: `Crawl of ${crawl.url}`, content, ...(isRunning ? { againSeconds: AGAIN_SECONDS } : {}) };
}

function pages({ items, status }: Got): Html {
  return table({
    caption: 'Pages',
    rows: items,
    empty: html`<p>${status === 'running' ? 'The first page is being read.' : 'It read no page.'}</p>`,
    columns: [
      { title: 'Page', cell: pageName },
      { title: 'Status', cell: pageStatus },
      { title: 'Links away', kind: 'number', cell: ({ depth }) => count(depth) },
      { title: 'Content', cell: contentOf },
    ],
  });
}

function pageName({ url, title }: CrawledPage): Html {
  const address = html`<span class="breaking">${short(url, 200)}</span>`;
  return title === null ? address : html`<div>${short(title, 120)}</div><div class="quiet">${address}</div>`;
}

function pageStatus({ status, error, rendered, render_error }: CrawledPage): Html {
  if (error !== null) return badge(error, 'critical');
  const shown = badge(String(status), status !== null && status < 400 ? 'good' : 'warning');
  if (render_error !== null) return html`${shown} ${badge(render_error, 'warning')}`;
  return rendered ? html`${shown} <span class="quiet">drawn</span>` : shown;
}

function contentOf({ content, error }: CrawledPage): Html {
  if (error !== null) return html``;
  const rest = content.length > SHOWN_CHARACTERS ? html`<p class="quiet">The beginning of it.</p>` : '';
  return html`<details><summary>${sizeText(Buffer.byteLength(content))}</summary><pre class="scroll text" tabindex="0" aria-label="Content" dir="auto">${content.slice(0, SHOWN_CHARACTERS).toWellFormed()}</pre>${rest}</details>`;
}
