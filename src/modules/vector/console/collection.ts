// One collection: its size, its vectors by id, and a query by an embedding that is pasted or taken from one of them. A query costs what it costs
// by the API, so only its button asks it.

import { panel, shown } from '../../../kit/console/failure.ts';
import { actForm, field, numberOf, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, figures, more, type Page, table } from '../../../kit/console/table.ts';
import { count, payload, short, sizeText, time } from '../../../kit/console/text.ts';
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
  done: 'The query was answered.',
  shown(data, visit, form) {
    visit.tell(vectorQuery, question(form, visit));
    const content = html`${back(visit)}<h1>Matches</h1>
${matches(visit, data)}
<section class="panel"><h2>Query again</h2>${queryForm(visit, (name) => form.get(name) ?? '')}</section>`;
    return { title: 'Matches', content };
  },
};

export const collectionPage: ConsolePage = {
  name: 'collection',
  path: '/vectors/{name}',
  needs: collectionGet,
  show,
  acts: { [QUERY]: query },
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
      done: 'The collection was deleted.',
      next: () => '/vectors',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const { name: collection = '' } = visit.params;
  const like = visit.query.get('id')?.trim() || null;
  const one = await visit.need(collectionGet, { collection });
  const list = { collection, prefix: visit.query.get('prefix') || undefined, limit: ROWS };
  const [vectors, taken] = await Promise.all([
    visit.call(vectorList, { ...list, cursor: visit.query.get('cursor') ?? undefined }),
    like === null ? null : visit.call(fetch, { collection, ids: [like], include_values: true }),
  ]);
  const content = html`<p><a href="${visit.path('/vectors')}">All collections</a></p>
<h1>${short(collection, 100)}</h1>
${sizes(visit, one)}
<section class="panel" id="query"><h2>Try a query</h2>${takeForm(like)}${tried(visit, like, taken)}</section>
${panel(visit, 'Vectors', vectors, (page) => html`${prefixForm(list.prefix)}${byId(visit, page)}${more(visit, page)}`)}
${visit.may(collectionDelete) ? html`<p><a href="${visit.path(`${collectionPath(collection)}/delete`)}">Delete the collection…</a></p>` : ''}`;
  return { title: collection, content };
}

function sizes(visit: Visit, one: Collection): Html {
  const { bytes, index_state: index } = one.raw_vendor_payload;
  return html`${figures([
    ['Vectors', count(one.vector_count)],
    ['Dimensions', count(one.dimension)],
    ['In memory', sizeText(bytes)],
  ])}${facts([
    ['State', stateOf(one)],
    ['Index', index === 'ready' ? null : index === 'cold' ? 'not in memory: the first query loads it' : index],
    ['Metric', one.metric],
    ['Created', time(visit, one.created_at)],
  ])}`;
}

function takeForm(like: string | null): Html {
  return html`<form method="get" action="#query" class="row" aria-label="Take an embedding"><label>Embedding of the vector <input name="id" value="${like ?? ''}" size="24" spellcheck="false" placeholder="its id"></label> <button>Use this vector</button></form>`;
}

function tried(visit: Visit, like: string | null, taken: Read<Pick<Page<Vector>, 'items'>> | null): Html {
  if (!visit.may(vectorQuery)) return html`<p class="quiet">You may not query.</p>`;
  if (taken === null) return queryForm(visit, () => '');
  return shown(visit, taken, ({ items: [found] }) =>
    found?.embedding === undefined
      ? html`<p class="failure" role="alert">There is no vector ${short(like ?? '', 100)} here.</p>${queryForm(visit, () => '')}`
      : queryForm(visit, (name) => (name === 'embedding' ? JSON.stringify(found.embedding) : '')),
  );
}

function queryForm(visit: Visit, value: (name: string) => string): Html {
  return actForm(
    visit,
    QUERY,
    html`${field(visit, QUERY, { name: 'embedding', label: 'Embedding', value: value('embedding'), rows: 4, isRequired: true, hint: 'Numbers separated by commas or spaces, a JSON array, or base64 of 32-bit floats.' })}
<div class="pair">${field(visit, QUERY, { name: 'top_k', label: 'Matches', value: value('top_k') || '10', attributes: html`inputmode="numeric"` })}
${field(visit, QUERY, { name: 'filter', label: 'Filter, JSON', value: value('filter'), attributes: html`spellcheck="false" placeholder='{"lang":"en"}'` })}</div>
<button class="main">Query</button> <span class="quiet">billed as vector.query</span>`,
  );
}

function matches(visit: Visit, { matches: found, raw_vendor_payload: how }: Found): Html {
  return html`${table({
    caption: 'Matches, best first',
    rows: found,
    empty: html`<p>Nothing matches.</p>`,
    columns: [
      { title: 'Id', cell: ({ id }) => likeLink(visit, id) },
      { title: 'Score', kind: 'number', cell: ({ score }) => score.toFixed(6) },
      { title: 'Metadata', cell: ({ metadata }) => metadataOf(metadata) },
    ],
  })}<p class="quiet">${count(how.rows_scanned)} vectors were compared (${how.plan}).</p>`;
}

function byId(visit: Visit, { items }: Page<Vector>): Html {
  return table({
    caption: 'Vectors',
    rows: items,
    empty: html`<p>No vector has such an id.</p>`,
    columns: [
      { title: 'Id', cell: ({ id }) => likeLink(visit, id) },
      { title: 'Metadata', cell: ({ metadata }) => metadataOf(metadata) },
    ],
  });
}

function likeLink(visit: Visit, id: string): Html {
  const to = `${visit.path(collectionPath(visit.params.name ?? ''))}?id=${encodeURIComponent(id)}#query`;
  return html`<a href="${to}" title="Take its embedding">${short(id, 100)}</a>`;
}

function metadataOf(metadata: unknown): Html {
  if (metadata === null || metadata === undefined) return html`<span class="quiet">none</span>`;
  const text = JSON.stringify(metadata);
  return text.length <= 120
    ? html`<code>${short(text)}</code>`
    : html`<details><summary>${short(text, 80)}</summary>${payload(metadata, 'Metadata', { call: 'vector.fetch' })}</details>`;
}

function prefixForm(prefix: string | undefined): Html {
  return html`<form method="get" class="row" aria-label="Find vectors"><label>Ids that begin with <input type="search" name="prefix" value="${prefix ?? ''}" size="24" spellcheck="false"></label> <button>Find</button></form>`;
}

function back(visit: Visit): Html {
  const { name = '' } = visit.params;
  return html`<p><a href="${visit.path(collectionPath(name))}">${short(name, 100)}</a></p>`;
}

async function showDelete(visit: Visit): Promise<View> {
  const { name: collection = '' } = visit.params;
  const one = await visit.need(collectionGet, { collection });
  const content = html`${back(visit)}
<h1>Delete ${short(collection, 100)}</h1>
<p>${count(one.vector_count)} vectors (${sizeText(one.raw_vendor_payload.bytes)}) and their metadata are gone at once and for good.</p>
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

function jsonOf(form: URLSearchParams, name: string): unknown {
  const text = textOf(form, name);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw invalidField(name, 'json', `${name} must be JSON.`);
  }
}
