// The collections of the account: how large each is, whether it is ready, and a new one.
import { type Html, html } from '../../../lib/html.ts';
import type { ConsolePage, View } from '../page.ts';
import { panel } from '../parts/failure.ts';
import { actForm, choice, field, numberOf, textOf } from '../parts/form.ts';
import { badge, more, type Page, table, teach } from '../parts/table.ts';
import { count, short, sizeText, time } from '../parts/text.ts';
import type { Visit } from '../visit.ts';

export interface Collection {
  readonly collection: string;
  readonly dimension: number;
  readonly metric: string;
  readonly vector_count: number;
  readonly state: string;
  readonly created_at: string;
  readonly raw_vendor_payload: { readonly bytes: number; readonly index_state: string };
}

const ROWS = 25;
const CREATE = 'create';

export const vectorsPage: ConsolePage = {
  name: 'vectors',
  path: '/vectors',
  needs: 'vector.collection.list',
  nav: { label: 'Vectors', key: 'v' },
  isLive: true,
  show,
  acts: {
    [CREATE]: {
      capability: 'vector.collection.create',
      input: (form) => ({
        collection: textOf(form, 'collection'),
        dimension: numberOf(form, 'dimension'),
        metric: textOf(form, 'metric'),
      }),
      done: 'The collection was made.',
      next: (data) => collectionPath((data as Collection).collection),
    },
  },
};

export function collectionPath(name: string): string {
  return `/vectors/${encodeURIComponent(name)}`;
}

export function stateOf({ state }: Collection): Html {
  return badge(state, state === 'ready' ? 'good' : state === 'failed' ? 'critical' : 'warning');
}

async function show(visit: Visit): Promise<View> {
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call<Page<Collection>>('vector.collection.list', { cursor, limit: ROWS });
  const content = html`<h1>Vectors</h1>
${panel(visit, 'Collections', list, (page) => html`${collections(visit, page)}${more(visit, page)}`)}
${visit.may('vector.collection.create') ? html`<section class="panel"><h2>New collection</h2>${createForm(visit)}</section>` : ''}`;
  return { title: 'Vectors', content };
}

function collections(visit: Visit, { items }: Page<Collection>): Html {
  return table({
    caption: 'Collections',
    rows: items,
    empty: teach('There is no collection. Make one here or by a call, and fill it:', firstCalls(visit)),
    columns: [
      {
        title: 'Name',
        cell: ({ collection: name }) => html`<a href="${visit.path(collectionPath(name))}">${short(name, 80)}</a>`,
      },
      { title: 'State', cell: stateOf },
      { title: 'Metric', cell: ({ metric }) => metric },
      { title: 'Made', cell: ({ created_at }) => time(visit, created_at) },
      { title: 'Dimensions', kind: 'number', cell: ({ dimension }) => count(dimension) },
      { title: 'Vectors', kind: 'number', cell: ({ vector_count }) => count(vector_count) },
      { title: 'In memory', kind: 'number', cell: ({ raw_vendor_payload: { bytes } }) => sizeText(bytes) },
    ],
  });
}

function firstCalls({ baseUrl }: Visit): string {
  const call = (path: string, body: string) =>
    `curl -sS ${baseUrl}${path} -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '${body}'`;
  return `${call('/v1/vector/collection/create', '{"collection":"notes","dimension":3}')}\n${call('/v1/vector/upsert', '{"collection":"notes","vectors":[{"id":"a","embedding":[0.1,0.2,0.3]}]}')}`;
}

function createForm(visit: Visit): Html {
  return actForm(
    visit,
    CREATE,
    html`${field(visit, CREATE, { name: 'collection', label: 'Name', isRequired: true, attributes: html`spellcheck="false" autocapitalize="off"` })}
<div class="pair">${field(visit, CREATE, { name: 'dimension', label: 'Dimensions', value: '1536', isRequired: true, attributes: html`inputmode="numeric"` })}
${choice(visit, CREATE, {
  name: 'metric',
  label: 'Metric',
  value: 'cosine',
  options: [
    ['cosine', 'cosine'],
    ['euclidean', 'Euclidean distance'],
    ['dotproduct', 'dot product'],
  ],
})}</div>
<button class="main">Make the collection</button>`,
  );
}
