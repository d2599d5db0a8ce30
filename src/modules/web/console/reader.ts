// Reads a page by its URL, and shows what a program would get. Content is shown as text, whatever it holds.
import { copiedBlock } from '../../../kit/console/copied.ts';
import { actForm, checkbox, choice, field, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { figures } from '../../../kit/console/table.ts';
import { count, money, short, sizeText } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { fetch as webFetch } from '../capabilities/fetch.ts';
import { READER, webTabs } from './tabs.ts';

type Read = DataOf<typeof webFetch>;

const READ = 'read';
/** More is no help to whoever looks at it here. */
const SHOWN_BYTES = 64 * 1024;
const LINKS_SHOWN = 100;
export const FORMATS = [
  ['markdown', 'Markdown'],
  ['text', 'Text'],
  ['html', 'HTML'],
] as const;

export const RENDERS = [
  ['auto', 'If the page is empty'],
  ['always', 'Always'],
  ['never', 'Never'],
] as const;

const wish = (form: URLSearchParams) => ({
  url: textOf(form, 'url'),
  format: textOf(form, 'format'),
  render: textOf(form, 'render'),
  main_content: !form.has('whole'),
  links: true,
  bytes_max: SHOWN_BYTES,
});

const read: Act<typeof webFetch> = {
  capability: webFetch,
  input: wish,
  done: 'Page read.',
  answerView(data, visit, form, envelope) {
    visit.tell(webFetch, wish(form));
    return { title: data.title ?? 'Web page', content: pageView(visit, data, form, envelope) };
  },
};

export const readerPage: ConsolePage = {
  name: 'web',
  path: READER,
  needs: webFetch,
  nav: { label: 'Web', key: 'n', group: 'make' },
  show: async (visit) => show(visit),
  acts: { [READ]: read },
};

function show(visit: Visit): View {
  const content = html`<h1>Web pages</h1>
${webTabs(visit, READER)}
<p class="quiet">Each page costs ${money(0.0002)}, one drawn by scripts ${money(0.002)}. Pages are not kept. The site's robots.txt is obeyed, and each host is asked once a second.</p>
${form(visit, (_, usual) => usual)}`;
  return { title: 'Web pages', content };
}

/** `value`: of a field, by its name and what stands there at first. */
function form(visit: Visit, value: (name: string, usual: string) => string): Html {
  return actForm(
    visit,
    READ,
    html`${field(visit, READ, { name: 'url', label: 'URL', value: value('url', ''), isRequired: true, attributes: html`type="url" inputmode="url" spellcheck="false" placeholder="https://example.com/"` })}
<div class="pair">${choice(visit, READ, { name: 'format', label: 'Format', options: FORMATS, value: value('format', 'markdown') })}
${choice(visit, READ, { name: 'render', label: 'Run scripts in a browser', options: RENDERS, value: value('render', 'auto') })}</div>
${checkbox(visit, READ, { name: 'whole', label: 'Keep navigation, headers and footers', isChecked: value('whole', '') !== '' })}
<button class="main">Read page</button>`,
  );
}

interface Told {
  readonly metadata: { readonly cost_usd: number; readonly warnings?: readonly string[] };
}

function pageView(visit: Visit, data: Read, sent: URLSearchParams, envelope: string): Html {
  const { metadata } = JSON.parse(envelope) as Told;
  const { title, url, byline, language, content, links, truncated } = data;
  return html`<h1>${short(title ?? 'Web page', 120)}</h1>
<p class="quiet">${[byline, url].filter((each) => each !== null).join(', ')}</p>
<section class="panel" aria-label="The page">${figures([
    ['Status', String(data.status)],
    ['Content', sizeText(Buffer.byteLength(content))],
    ['Language', language ?? 'unknown'],
    ['Drawn by scripts', data.rendered ? 'yes' : 'no'],
    ['Cost', money(metadata.cost_usd)],
  ])}</section>
${metadata.warnings?.map((warning) => html`<p class="quiet">${warning}</p>`) ?? ''}
<h2>Content</h2>
${truncated ? html`<p class="quiet">The beginning of it: a call shows up to 2 MiB.</p>` : ''}
${copiedBlock(html`<pre class="text" tabindex="0" aria-label="Content">${content}</pre>`, 'the content')}
${linksOf(links ?? [])}
<h2>Read another one</h2>
${form(visit, (name) => sent.get(name) ?? '')}
<details id="call"><summary>The call</summary>${copiedBlock(html`<pre class="text" tabindex="0" aria-label="The call">${visit.curl(webFetch, wish(sent))}</pre>`, 'the call')}</details>`;
}

function linksOf(links: readonly string[]): Html {
  if (links.length === 0) return html``;
  const first = links.slice(0, LINKS_SHOWN);
  return html`<details id="links"><summary>${count(links.length)} links</summary><ul>${first.map((link) => html`<li>${short(link, 120)}</li>`)}</ul></details>`;
}
