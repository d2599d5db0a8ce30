// One collection: its size, its vectors by id, and a query by an embedding that is pasted or taken from one of them. Only the button of the query
// asks it, since it costs what it costs by the API.

import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { contentOrFailure, panel } from '../../../kit/console/failure.ts';
import { actForm, field, jsonOf, numberOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { figures, more, type Page, pageTabs, table } from '../../../kit/console/table.ts';
import { ago, count, countOf, payload, short, sizeText } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { DataOf, ItemOf, Read, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { collectionDelete } from '../capabilities/collection/delete.ts';
import { collectionGet } from '../capabilities/collection/get.ts';
import { fetch } from '../capabilities/fetch.ts';
import { list as vectorList } from '../capabilities/list.ts';
import { query as vectorQuery } from '../capabilities/query.ts';
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
    const content = html`${back(visit, '/query')}<h1>Matches</h1>
${matches(visit, data)}
<section class="panel"><h2>Query again</h2>${queryForm(visit, (name) => form.get(name) ?? '')}</section>`;
    return { title: 'Matches', content };
  },
};

export const collectionPage: ConsolePage = {
  name: 'collection',
  path: '/vectors/{name}',
  needs: collectionGet,
  show: (visit) => collectionView(visit, '', () => vectorPanel(visit)),
};

export const collectionQueryPage: ConsolePage = {
  name: 'collection_query',
  path: '/vectors/{name}/query',
  needs: vectorQuery,
  show: (visit) => collectionView(visit, '/query', () => querySection(visit)),
  acts: { [QUERY]: query },
};

export const collectionSettingsPage: ConsolePage = {
  name: 'collection_settings',
  path: '/vectors/{name}/settings',
  needs: collectionGet,
  show: (visit) => collectionView(visit, '/settings', async (one) => danger(visit, one)),
};

/** All of a collection goes: its name is to be typed. */
export const collectionDeletePage: ConsolePage = {
  name: 'collection_delete',
  path: '/vectors/{name}/delete',
  needs: collectionDelete,
  show: showDelete,
  acts: {
    delete: {
      capability: collectionDelete,
      input(form, { params: { name = '' } }) {
        requireTyped(form, name, 'delete the collection');
        return { collection: name };
      },
      done: 'Collection deleted.',
      next: () => '/vectors',
    },
  },
};

type Room = '' | '/query' | '/settings';

async function collectionView(visit: Visit, here: Room, content: (one: Collection) => Promise<Html>): Promise<View> {
  const { name = '' } = visit.params;
  const one = await visit.need(collectionGet, { collection: name });
  const { bytes, index_state: index } = one.raw_vendor_payload;
  const at = visit.path(collectionPath(name));
  const tab = (text: string, below: Room) => ({ text, href: `${at}${below}`, isHere: below === here });
  const tabs = [
    tab('Vectors', ''),
    ...(visit.may(vectorQuery) ? [tab('Query', '/query')] : []),
    tab('Settings', '/settings'),
  ];
  const indexText =
    index === 'ready' ? '' : index === 'cold' ? ' · not in memory: the first query loads it' : ` · index ${index}`;
  const body = html`<p><a href="${visit.path('/vectors')}">Vectors</a></p>
<div class="head named"><h1>${short(name, 100)}</h1><p>${stateOf(one)}</p></div>
<p class="quiet">Metric ${one.metric}${indexText} · created ${ago(visit, one.created_at)}</p>
${figures([
  ['Vectors', count(one.vector_count)],
  ['Dimensions', count(one.dimension)],
  ['In memory', sizeText(bytes)],
])}
${pageTabs('Pages of the collection', tabs)}
${await content(one)}`;
  return { title: name, content: body };
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

async function danger(visit: Visit, { collection, vector_count: vectors }: Collection): Promise<Html> {
  const act = dangerLink(visit.path(`${collectionPath(collection)}/delete`), 'Delete…');
  const text = `The collection and its ${countOf(vectors, 'vector')} are deleted.`;
  const zone = dangerZone([visit.may(collectionDelete) ? { title: 'Delete this collection', text, act } : null]);
  return html`<p class="quiet">Dimensions and metric of a collection cannot be changed.</p>${zone}`;
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

function byId(visit: Visit, { items }: Page<Vector>): Html {
  return table({
    caption: 'Vectors',
    rows: items,
    empty: html`<p>No vectors${visit.query.has('prefix') ? ' with this prefix' : ' yet'}.</p>`,
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

function back(visit: Visit, below: Room): Html {
  const { name = '' } = visit.params;
  return html`<p><a href="${visit.path(collectionPath(name))}${below}">${short(name, 100)}</a></p>`;
}

async function showDelete(visit: Visit): Promise<View> {
  const { name: collection = '' } = visit.params;
  const one = await visit.need(collectionGet, { collection });
  const content = html`${back(visit, '/settings')}
<h1>Delete ${short(collection, 100)}</h1>
<p>This deletes ${countOf(one.vector_count, 'vector')} (${sizeText(one.raw_vendor_payload.bytes)}) and their metadata. It cannot be undone.</p>
${typedForm(visit, 'delete', { wanted: collection, button: 'Delete' })}`;
  return { title: 'Delete a collection', content };
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
