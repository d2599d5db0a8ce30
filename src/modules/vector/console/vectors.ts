// The collections of the account: how large each is, whether it is ready, and a new one.
import { choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { badge, teach } from '../../../kit/console/table.ts';
import { ago, count, short, sizeText } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { collectionCreate } from '../capabilities/collection/create.ts';
import type { collectionGet } from '../capabilities/collection/get.ts';
import { collectionList } from '../capabilities/collection/list.ts';
import { upsert } from '../capabilities/upsert.ts';

export type Collection = DataOf<typeof collectionGet>;

export const vectorsPage = listPage({
  name: 'vectors',
  path: '/vectors',
  nav: { label: 'Vectors', key: 'v', group: 'build' },
  title: 'Vectors',
  caption: 'Collections',
  list: collectionList,
  empty: (visit) => teach('No collections yet. Create one and upsert a vector:', firstCalls(visit)),
  columns: (visit) => [
    {
      title: 'Name',
      cell: ({ collection: name }) => html`<a href="${visit.path(collectionPath(name))}">${short(name, 80)}</a>`,
    },
    { title: 'Status', cell: stateOf },
    { title: 'Metric', cell: ({ metric }) => metric },
    { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
    { title: 'Dimensions', kind: 'number', cell: ({ dimension }) => count(dimension) },
    { title: 'Vectors', kind: 'number', cell: ({ vector_count }) => count(vector_count) },
    { title: 'In memory', kind: 'number', cell: ({ raw_vendor_payload: { bytes } }) => sizeText(bytes) },
  ],
  create: {
    capability: collectionCreate,
    heading: 'New collection',
    input: (form) => ({
      collection: textOf(form, 'collection'),
      dimension: numberOf(form, 'dimension'),
      metric: textOf(form, 'metric'),
    }),
    done: 'Collection created.',
    next: ({ collection }) => collectionPath(collection),
    form: (visit, act) =>
      html`${field(visit, act, { name: 'collection', label: 'Name', isRequired: true, attributes: html`spellcheck="false" autocapitalize="off"` })}
<div class="pair">${field(visit, act, { name: 'dimension', label: 'Dimensions', value: '1536', isRequired: true, attributes: html`inputmode="numeric"` })}
${choice(visit, act, {
  name: 'metric',
  label: 'Metric',
  value: 'cosine',
  options: [
    ['cosine', 'Cosine similarity'],
    ['euclidean', 'Euclidean distance'],
    ['dotproduct', 'Dot product'],
  ],
})}</div>
<button class="main">Create collection</button>`,
  },
});

export function collectionPath(name: string): string {
  return `/vectors/${encodeURIComponent(name)}`;
}

export function stateOf({ state }: Collection): Html {
  return badge(state, state === 'ready' ? 'good' : state === 'failed' ? 'critical' : 'warning');
}

function firstCalls(visit: Visit) {
  return visit.samples([
    [collectionCreate, { collection: 'notes', dimension: 3 }],
    [upsert, { collection: 'notes', vectors: [{ id: 'a', embedding: [0.1, 0.2, 0.3] }] }],
  ]);
}
