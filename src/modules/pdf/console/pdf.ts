// Makes a PDF of what is typed, and shows it by its link. Nothing is kept, so there is no list of earlier ones.
import { copiedBlock } from '../../../kit/console/copied.ts';
import { actForm, checkbox, choice, field, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { figures } from '../../../kit/console/table.ts';
import { ago, count, money, sizeText } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { create as pdfCreate } from '../capabilities/create.ts';
import { info as pdfInfo } from '../capabilities/info.ts';

type Made = DataOf<typeof pdfCreate>;

const CREATE = 'create';
const ROWS = 12;
const SAMPLE = `# Invoice 7

| Item | USD |
|---|---|
| Tea  | 3.20 |
| Cake | 4.80 |

**Total: 8.00 USD**`;

const SIZES = ['A4', 'A3', 'A5', 'Letter', 'Legal', 'Tabloid'].map((size) => [size, size] as const);
const TYPES = [
  ['markdown', 'Markdown'],
  ['html', 'HTML'],
  ['text', 'Plain text'],
] as const;
const ENGINES = [
  ['auto', 'Automatic'],
  ['document', 'Document'],
  ['browser', 'Browser'],
] as const;

const wish = (form: URLSearchParams) => ({
  type: textOf(form, 'type'),
  content: form.get('content') ?? '',
  page: { size: textOf(form, 'size'), landscape: form.has('landscape') },
  header: textOf(form, 'header'),
  footer: textOf(form, 'footer'),
  engine: textOf(form, 'engine'),
});

const create: Act<typeof pdfCreate> = {
  capability: pdfCreate,
  input: wish,
  done: 'PDF created.',
  answerView(data, visit, form, envelope) {
    visit.tell(pdfCreate, wish(form));
    return { title: 'PDF', content: pdfView(visit, data, form, envelope) };
  },
};

export const pdfPage: ConsolePage = {
  name: 'pdf',
  path: '/pdf',
  needs: pdfInfo,
  nav: { label: 'PDF', key: 'f', group: 'make' },
  show: async (visit) => show(visit),
  acts: { [CREATE]: create },
};

function show(visit: Visit): View {
  const content = html`<h1>PDF</h1>
<p class="quiet">Each page costs ${money(0.0001)}, a PDF at least ${money(0.0005)}. PDFs are not kept: the link of each works for an hour.</p>
${visit.may(pdfCreate) ? form(visit, (_, usual) => usual) : html`<p class="quiet">You may not create PDFs.</p>`}`;
  return { title: 'PDF', content };
}

/** `value`: of a field, by its name and what stands there at first. */
function form(visit: Visit, value: (name: string, usual: string) => string): Html {
  const of = (name: string, label: string, options: readonly (readonly [string, string])[], usual: string) =>
    choice(visit, CREATE, { name, label, options, value: value(name, usual) });
  return actForm(
    visit,
    CREATE,
    html`<div class="pair">${of('type', 'Type', TYPES, 'markdown')}${of('size', 'Paper', SIZES, 'A4')}</div>
${field(visit, CREATE, { name: 'content', label: 'Content', value: value('content', SAMPLE), rows: ROWS, isRequired: true, attributes: html`spellcheck="false"` })}
<div class="pair">${field(visit, CREATE, { name: 'header', label: 'Header', value: value('header', '') })}
${field(visit, CREATE, { name: 'footer', label: 'Footer', value: value('footer', 'Page {page} of {pages}'), hint: '{page} and {pages} become numbers.' })}
${of('engine', 'Engine', ENGINES, 'auto')}</div>
${checkbox(visit, CREATE, { name: 'landscape', label: 'Landscape', isChecked: value('landscape', '') !== '' })}
<button class="main">Create PDF</button>`,
  );
}

interface Told {
  readonly metadata: { readonly cost_usd: number; readonly warnings?: readonly string[] };
}

function pdfView(visit: Visit, data: Made, sent: URLSearchParams, envelope: string): Html {
  const { cost_usd: cost, warnings = [] } = (JSON.parse(envelope) as Told).metadata;
  const { pages, bytes, engine, url, expires_at: ends } = data;
  const path = ownPath(url ?? '');
  return html`<h1>PDF</h1>
<section class="panel" aria-label="The PDF">${figures([
    ['Pages', count(pages)],
    ['Size', sizeText(bytes)],
    ['Cost', money(cost)],
    ['Engine', engine === 'browser' ? 'Browser' : 'Document'],
  ])}
<p><a class="main" href="${path}" target="_blank" rel="noreferrer">Open the PDF</a> <span class="quiet">The link ends ${ago(visit, ends)}.</span></p>
${warnings.length === 0 ? '' : html`<ul>${warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`}</section>
<h2>Create another one</h2>
${form(visit, (name) => sent.get(name) ?? '')}
<details id="call"><summary>The call</summary>${copiedBlock(html`<pre class="text" tabindex="0" aria-label="The call">${visit.curl(pdfCreate, wish(sent))}</pre>`, 'the call')}</details>`;
}

/** Links of the service are opened here: the console may be at another name of it. */
function ownPath(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
