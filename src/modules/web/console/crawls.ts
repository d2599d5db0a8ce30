// The crawls of the account, and a new one.
import { checkbox, choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { badge, teach } from '../../../kit/console/table.ts';
import { ago, count, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { cancelCrawl } from '../capabilities/crawl/cancel.ts';
import { crawl } from '../capabilities/crawl/create.ts';
import { listCrawls } from '../capabilities/crawl/list.ts';
import { FORMATS, RENDERS } from './reader.ts';
import { CRAWLS, crawlPath, webTabs } from './tabs.ts';

export type Crawl = DataOf<typeof cancelCrawl>;

const kinds = { running: 'warning', completed: 'good', cancelled: 'plain', failed: 'critical' } as const;

export const crawlsPage = listPage({
  name: 'web_crawls',
  path: CRAWLS,
  title: 'Web pages',
  caption: 'Crawls',
  list: listCrawls,
  above: (visit) => webTabs(visit, CRAWLS),
  empty: (visit) => teach('No crawls. To begin one:', visit.samples([[crawl, { url: 'https://docs.example.org/' }]])),
  columns: (visit) => [
    {
      title: 'Crawl',
      cell: ({ crawl_id, url }) =>
        html`<a class="breaking" href="${visit.path(crawlPath(crawl_id))}">${short(url, 120)}</a>`,
    },
    { title: 'Status', cell: crawlStatus },
    { title: 'Pages', kind: 'number', cell: ({ pages_read }) => count(pages_read) },
    { title: 'Not read', kind: 'number', cell: ({ pages_failed }) => count(pages_failed) },
    { title: 'Cost', usd: ({ cost_usd }) => cost_usd },
    { title: 'Begun', cell: ({ created_at }) => ago(visit, created_at) },
  ],
  create: {
    capability: crawl,
    heading: 'New crawl',
    intro:
      'Reads a page, then the pages of its host that it links to, one a second. Each page that is read is charged.',
    input: (form) => ({
      url: textOf(form, 'url'),
      limit: numberOf(form, 'limit'),
      depth: numberOf(form, 'depth'),
      include: linesOf(form, 'include'),
      exclude: linesOf(form, 'exclude'),
      format: textOf(form, 'format'),
      render: textOf(form, 'render'),
      main_content: !form.has('whole'),
    }),
    done: 'Crawl begun.',
    next: ({ crawl_id }) => crawlPath(crawl_id),
    form: crawlForm,
  },
});

export function crawlStatus({ status }: Pick<Crawl, 'status'>): Html {
  return badge(status, kinds[status]);
}

function crawlForm(visit: Visit, act: string): Html {
  const paths = (name: string, label: string, hint: string) =>
    field(visit, act, { name, label, rows: 2, hint, attributes: html`spellcheck="false" autocapitalize="off"` });
  return html`${field(visit, act, { name: 'url', label: 'URL', isRequired: true, attributes: html`type="url" inputmode="url" spellcheck="false" placeholder="https://docs.example.org/"` })}
<div class="pair">${field(visit, act, { name: 'limit', label: 'Pages at most', value: '10', attributes: html`inputmode="numeric"` })}
${field(visit, act, { name: 'depth', label: 'Links away at most', value: '2', attributes: html`inputmode="numeric"` })}
${choice(visit, act, { name: 'format', label: 'Format', options: FORMATS, value: 'markdown' })}
${choice(visit, act, { name: 'render', label: 'Run scripts in a browser', options: RENDERS, value: 'auto' })}</div>
${paths('include', 'Follow only', 'Beginnings of paths, one a line, with * for anything: /docs/*. Empty: all.')}
${paths('exclude', 'Do not follow', 'The same way.')}
${checkbox(visit, act, { name: 'whole', label: 'Keep navigation, headers and footers' })}
<button class="main">Begin crawl</button>`;
}

function linesOf(form: URLSearchParams, name: string): readonly string[] {
  return (form.get(name) ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
