// One collection: its size, its vectors by id, and a query by an embedding that is pasted or taken from one of them. Only the button of the query
// asks it, since it costs what it costs by the API.

import { contentOrFailure, panel } from '../../../kit/console/failure.ts';
import { actForm, field, jsonOf, numberOf } from '../../../kit/console/form.ts';
import type { Act } from '../../../kit/console/page.ts';
import { type ResourcePage, resourcePages } from '../../../kit/console/resource-pages.ts';
import { figures, more, type Page, table, teach } from '../../../kit/console/table.ts';
import { ago, count, countOf, payload, short, sizeText } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Read, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { collectionDelete } from '../capabilities/collection/delete.ts';
import { collectionGet } from '../capabilities/collection/get.ts';
import { fetch } from '../capabilities/fetch.ts';
import { list as vectorList } from '../capabilities/list.ts';
import { query as vectorQuery } from '../capabilities/query.ts';
import { upsert } from '../capabilities/upsert.ts';
import { type Collection, collectionPath, stateOf } from './vectors.ts';

type Vector = ItemOf<typeof fetch>;

type Found = DataOf<typeof vectorQuery>;

const ROWS = 20;
const QUERY = 'query';

const question = (form: URLSearchParams, { params }: Visit) => ({
  collection: params.name,
  embedding: embeddingOf(form.get('embedding') ?? ''),
  top_k: numberOf(form, 'top_k'),
  filter: jsonOf(form, 'filter'),
});

const query: Act<typeof vectorQuery> = {
  capability: vectorQuery,
  input: question,
  done: 'Query answered.',
  answerView(data, visit, form) {
    visit.tell(vectorQuery, question(form, visit));
    const { name = '' } = visit.params;
    const content = html`<p><a href="${visit.path(collectionPath(name))}/query">${short(name, 100)}</a></p><h1>Matches</h1>
${matches(visit, data)}
<section class="panel"><h2>Query again</h2>${queryForm(visit, (name) => form.get(name) ?? '')}</section>`;
    return { title: 'Matches', content };
  },
};

const vectors: ResourcePage<Collection> = {
  below: '',
  tab: 'Vectors',
  show: async (visit) => ({ content: await vectorPanel(visit) }),
};

const queries: ResourcePage<Collection> = {
  below: '/query',
  tab: 'Query',
  needs: vectorQuery,
  show: async (visit) => ({ content: await querySection(visit) }),
  acts: { [QUERY]: query },
};

const settings: ResourcePage<Collection> = {
  below: '/settings',
  tab: 'Settings',
  show: () => ({ content: html`<p class="quiet">Dimensions and metric of a collection cannot be changed.</p>` }),
};

export const collectionPages = resourcePages<Collection>({
  name: 'collection',
  noun: 'collection',
  path: '/vectors/{name}',
  list: { title: 'Vectors', path: '/vectors' },
  needs: collectionGet,
  read: (visit) => visit.need(collectionGet, { collection: visit.params.name }),
  nameOf: ({ collection }) => collection,
  badge: (_, one) => stateOf(one),
  about,
  pages: [vectors, queries, settings],
  deletion: {
    capability: collectionDelete,
    field: 'collection',
    title: 'Delete a collection',
    heading: ({ collection }) => `Delete ${collection}`,
    warning: ({ vector_count: held }) => `The collection and its ${countOf(held, 'vector')} are deleted.`,
    effect: (_, { vector_count: held, raw_vendor_payload: { bytes } }) =>
      `This deletes ${countOf(held, 'vector')} (${sizeText(bytes)}) and their metadata. It cannot be undone.`,
  },
});

function about(visit: Visit, { metric, created_at, vector_count, dimension, raw_vendor_payload }: Collection): Html {
  const { bytes, index_state: index } = raw_vendor_payload;
  const indexText =
    index === 'ready' ? '' : index === 'cold' ? ' · not in memory: the first query loads it' : ` · index ${index}`;
  return html`<p class="quiet">Metric ${metric}${indexText} · created ${ago(visit, created_at)}</p>
${figures([
  ['Vectors', count(vector_count)],
  ['Dimensions', count(dimension)],
  ['In memory', sizeText(bytes)],
])}`;
}

async function vectorPanel(visit: Visit): Promise<Html> {
  const prefix = visit.query.get('prefix') || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const read = await visit.call(vectorList, { collection: visit.params.name, prefix, limit: ROWS, cursor });
  return panel(visit, 'Vectors', read, (page) => html`${prefixForm(prefix)}${byId(visit, page)}${more(visit, page)}`);
}

async function querySection(visit: Visit): Promise<Html> {
  const like = visit.query.get('id')?.trim() || null;
  const { name: collection } = visit.params;
  const taken = like === null ? null : await visit.call(fetch, { collection, ids: [like], include_values: true });
  return html`${takeForm(like)}${likeForm(visit, like, taken)}`;
}

function takeForm(like: string | null): Html {
  return html`<form method="get" class="row" aria-label="Take an embedding"><label>Vector ID <input name="id" value="${like ?? ''}" size="24" spellcheck="false"></label> <button>Use this vector</button></form>`;
}

function likeForm(visit: Visit, like: string | null, taken: Read<Pick<Page<Vector>, 'items'>> | null): Html {
  if (taken === null) return queryForm(visit, () => '');
  return contentOrFailure(visit, taken, ({ items: [found] }) =>
    found?.embedding === undefined
      ? html`<p class="failure" role="alert">There is no vector ${short(like ?? '', 100)} in this collection.</p>${queryForm(visit, () => '')}`
      : queryForm(visit, (name) => (name === 'embedding' ? JSON.stringify(found.embedding) : '')),
  );
}

function queryForm(visit: Visit, value: (name: string) => string): Html {
  return actForm(
    visit,
    QUERY,
    html`${field(visit, QUERY, { name: 'embedding', label: 'Embedding', value: value('embedding'), rows: 4, isRequired: true, hint: 'Numbers separated by commas or spaces, a JSON array, or base64 of 32-bit floats.' })}
<div class="pair">${field(visit, QUERY, { name: 'top_k', label: 'Top K', value: value('top_k') || '10', attributes: html`inputmode="numeric"` })}
${field(visit, QUERY, { name: 'filter', label: 'Filter (JSON)', value: value('filter'), attributes: html`spellcheck="false" placeholder='{"lang":"en"}'` })}</div>
<button class="main">Query</button> <span class="quiet">$0.00001 per query</span>`,
  );
}

function matches(visit: Visit, { matches: found, raw_vendor_payload: how }: Found): Html {
  return html`${table({
    caption: 'Matches, best first',
    rows: found,
    empty: html`<p>No matches.</p>`,
    columns: [
      { title: 'ID', cell: ({ id }) => likeLink(visit, id) },
      { title: 'Score', kind: 'number', cell: ({ score }) => score.toFixed(6) },
      { title: 'Metadata', cell: ({ metadata }) => metadataOf(metadata) },
    ],
  })}<p class="quiet">${countOf(how.rows_scanned, 'vector')} compared (${how.plan}).</p>`;
}

function noVectors(visit: Visit): Html {
  if (visit.query.has('prefix')) return html`<p>No vectors with this prefix.</p>`;
  const { name: collection } = visit.params;
  const vectors = [{ id: 'a', embedding: [0.1, 0.2, 0.3], metadata: { title: 'First' } }];
  return teach(
    'No vectors yet. To upsert one, with as many numbers as the collection has dimensions:',
    visit.samples([[upsert, { collection, vectors }]]),
  );
}

function byId(visit: Visit, { items }: Page<Vector>): Html {
  return table({
    caption: 'Vectors',
    rows: items,
    empty: noVectors(visit),
    columns: [
      { title: 'ID', cell: ({ id }) => likeLink(visit, id) },
      { title: 'Metadata', cell: ({ metadata }) => metadataOf(metadata) },
    ],
  });
}

function likeLink(visit: Visit, id: string): Html {
  const to = `${visit.path(collectionPath(visit.params.name ?? ''))}/query?id=${encodeURIComponent(id)}`;
  return html`<a href="${to}" title="Query by this vector">${short(id, 100)}</a>`;
}

function metadataOf(metadata: unknown): Html {
  if (metadata === null || metadata === undefined) return html`<span class="quiet">none</span>`;
  const text = JSON.stringify(metadata);
  return text.length <= 120
    ? html`<code>${short(text)}</code>`
    : html`<details><summary>${short(text, 80)}</summary>${payload(metadata, 'Metadata', { call: 'vector.fetch' })}</details>`;
}

function prefixForm(prefix: string | undefined): Html {
  return html`<form method="get" class="row" aria-label="Find vectors"><label>ID prefix <input type="search" name="prefix" value="${prefix ?? ''}" size="24" spellcheck="false"></label> <button>Search</button></form>`;
}

/** What has characters that no numbers have goes as it is: base64, or nothing that the capability takes. */
function embeddingOf(text: string): readonly number[] | string {
  if (/[^\d\s,.+\-eE[\]]/.test(text)) return text.trim();
  const parts = text.split(/[\s,[\]]+/).filter((part) => part !== '');
  const numbers = parts.map(Number);
  if (numbers.length === 0 || !numbers.every(Number.isFinite))
    throw invalidField('embedding', 'type', 'embedding must be numbers separated by commas or spaces, or base64.');
  return numbers;
}
