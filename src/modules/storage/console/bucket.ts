// One bucket: its objects as folders, an upload, and its settings.

import { codeBlock } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actForm, checkbox, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { instantField, secondsUntil } from '../../../kit/console/instant-field.ts';
import type { NewForm } from '../../../kit/console/new.ts';
import { actOf } from '../../../kit/console/page.ts';
import { type ResourcePage, resourcePages, settingsPage } from '../../../kit/console/resource-pages.ts';
import { figures, more, table, teach, withQuery } from '../../../kit/console/table.ts';
import { ago, count, short, sizeText } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { HOUR_MS, iso } from '../../../lib/time.ts';
import { invalidField } from '../../../problems/problem.ts';

import { deleteBucket } from '../capabilities/bucket-delete.ts';
import { getBucket } from '../capabilities/bucket-get.ts';
import { CORS_METHODS, CORS_RULES_MAX, setBucketSettings } from '../capabilities/bucket-settings.ts';
import { listObjectsCall } from '../capabilities/object-list.ts';
import { putObjectCall } from '../capabilities/object-put.ts';
import { linkUpload } from '../capabilities/upload-link.ts';

type Bucket = DataOf<typeof getBucket>;
type Listing = DataOf<typeof listObjectsCall>;

const ROWS = 50;
export const bucketPath = (bucket: string) => `/storage/${encodeURIComponent(bucket)}`;
export const objectPath = (bucket: string, key: string) =>
  `${bucketPath(bucket)}/object?key=${encodeURIComponent(key)}`;

const newObject: NewForm = {
  act: 'put',
  heading: 'New text object',
  capability: putObjectCall,
  form: (
    visit,
  ) => html`${field(visit, 'put', { name: 'key', label: 'Key', value: visit.query.get('prefix') ?? '', isRequired: true, attributes: html`spellcheck="false"` })}
${field(visit, 'put', { name: 'content', label: 'Content', value: '', rows: 10, attributes: html`spellcheck="false"` })}
${field(visit, 'put', { name: 'content_type', label: 'Content type', value: 'text/plain; charset=utf-8' })}
<button class="main">Store</button>`,
};

const objectsPage: ResourcePage<Bucket> = {
  below: '',
  tab: 'Objects',
  needs: listObjectsCall,
  isLive: true,
  newForm: newObject,
  actions: (visit, { bucket }) => (visit.may(putObjectCall) ? newObjects(visit, bucket) : undefined),
  show,
  acts: {
    put: {
      capability: putObjectCall,
      input: (form, { params }) => ({
        bucket: params.bucket,
        key: textOf(form, 'key'),
        content: form.get('content') ?? '',
        content_type: textOf(form, 'content_type'),
      }),
      done: 'Object stored.',
    },
  },
};

type Link = DataOf<typeof linkUpload>;

const LINKED_MS = HOUR_MS;

const uploadLinkPage: ResourcePage<Bucket> = {
  below: '/upload-link',
  tab: 'Upload link',
  title: (name) => `Upload link: ${name}`,
  needs: linkUpload,
  show: (visit, { bucket }) => ({
    content: html`<p>A form by which a web page stores files here without a key. Each use costs as a write.</p>
${visit.personId === null ? linkForm(visit) : teach('An API key signs the link. Sign in with a key to make it here, or call with one:', visit.samples([[linkUpload, { bucket, prefix: 'uploads/', expires_seconds: 3_600 }]]))}`,
  }),
  acts: {
    link: actOf({
      capability: linkUpload,
      input: (form, visit) => ({
        bucket: visit.params.bucket,
        prefix: form.get('prefix') ?? '',
        content_type: textOf(form, 'content_type'),
        bytes_max: numberOf(form, 'bytes_max'),
        expires_seconds: secondsUntil(form, 'expires_seconds', visit),
      }),
      done: 'Link made.',
      answerView: (data, visit) => ({
        title: 'Upload link',
        content: html`<p><a href="${visit.path(bucketPath(visit.params.bucket ?? ''))}">${visit.params.bucket ?? ''}</a></p>
<h1>Upload link</h1>
<p>It works until ${ago(visit, data.expires_at)}. For a script of a page, the settings of the bucket name the origin of the page with POST.</p>
${codeBlock('upload-link', [
  { language: 'html', text: formText(data) },
  { language: 'bash', text: curlText(data) },
])}`,
      }),
    }),
  },
};

/** Signed by an API key: nobody else has a secret to sign by. */
function linkForm(visit: Visit): Html {
  const fields = html`${field(visit, 'link', { name: 'prefix', label: 'Keys begin with', value: 'uploads/', hint: 'The name of the file follows.', attributes: html`spellcheck="false"` })}
${field(visit, 'link', { name: 'content_type', label: 'Content type', value: '', hint: 'Only files of this type are taken. Empty: of any type.', attributes: html`spellcheck="false"` })}
${field(visit, 'link', { name: 'bytes_max', label: 'Longest file in bytes', value: '10000000', attributes: html`inputmode="numeric"` })}
${instantField(visit, 'link', { name: 'expires_seconds', label: 'Until', value: iso(visit.nowMs + LINKED_MS), isRequired: true })}
<button class="main">Make the link</button>`;
  return actForm(visit, 'link', fields);
}

function formText({ url, fields }: Link): string {
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`  <input type="hidden" name="${name}" value="${value}">\n`,
  );
  return html`<form action="${url}" method="post" enctype="multipart/form-data">\n${hidden}  <input type="file" name="file">\n  <button>Upload</button>\n</form>`
    .text;
}

function curlText({ url, fields }: Link): string {
  const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const sent = Object.entries(fields).map(([name, value]) => `  -F ${shellQuote(`${name}=${value}`)} \\\n`);
  return `curl -sS --fail-with-body \\\n${sent.join('')}  -F 'file=@photo.jpg' ${shellQuote(url)}`;
}

const settings = settingsPage<Bucket>({
  act: 'settings',
  capability: setBucketSettings,
  fields: settingsFields,
  input: (form, { params }) => ({
    bucket: params.bucket,
    expire: rulesOf(form, 'expire'),
    abort_uploads: rulesOf(form, 'abort_uploads'),
    notify: notifyOf(form),
    cors: corsOf(form),
  }),
  done: 'Settings saved.',
});

export const bucketPages = resourcePages<Bucket>({
  name: 'bucket',
  noun: 'bucket',
  path: '/storage/{bucket}',
  list: { title: 'Storage', path: '/storage' },
  needs: getBucket,
  read: (visit) => visit.need(getBucket, { bucket: visit.params.bucket }),
  nameOf: ({ bucket }) => bucket,
  about: (visit, { object_count: objects, bytes, created_at }) =>
    figures([
      ['Objects', count(objects)],
      ['Size', sizeText(bytes)],
      ['Created', ago(visit, created_at)],
    ]),
  pages: [objectsPage, uploadLinkPage, settings],
  deletion: {
    capability: deleteBucket,
    warning: ({ object_count: objects }) =>
      objects === 0
        ? 'It holds no objects. Unfinished uploads to it are aborted.'
        : 'Only an empty bucket can be deleted: delete its objects first.',
    effect(_, { object_count: objects }) {
      const held = objects === 0 ? 'no objects.' : `${count(objects)} objects: it can be deleted once they are.`;
      return `It holds ${held} Its settings are deleted with it, and unfinished uploads to it are aborted.`;
    },
  },
});

async function show(visit: Visit, { bucket }: Bucket) {
  const prefix = visit.query.get('prefix') ?? '';
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(listObjectsCall, { bucket, prefix, delimiter: '/', limit: ROWS, cursor });
  const content = panel(
    visit,
    'Objects',
    list,
    (data) => html`${folders(visit, prefix)}${objects(visit, data, prefix)}${more(visit, data)}`,
  );
  return { content };
}

function newObjects(visit: Visit, bucket: string): Html {
  return html`${uploadOf(visit, bucket)}<a class="button" href="${withQuery(visit, { new: '1', cursor: null })}">${newObject.heading}</a>`;
}

/** Needs the script: a form cannot send a file of any length. */
function uploadOf(visit: Visit, bucket: string): Html {
  const prefix = visit.query.get('prefix') ?? '';
  const wire = visit.elsewhere(`/console/wire/v1/storage/upload/${encodeURIComponent(bucket)}/`);
  return html`<span data-upload="${wire}" data-prefix="${prefix}" data-token="${visit.formToken}" hidden><button type="button" class="main">Upload files</button><input type="file" class="unseen" multiple tabindex="-1" aria-label="Files to upload"></span><span class="quiet" role="status" data-upload-status></span>`;
}

/** The way to where one is, each part a link. */
function folders(visit: Visit, prefix: string): Html {
  if (prefix === '') return html``;
  const parts = prefix.split('/').filter((_, i, all) => i < all.length - 1 || all[i] !== '');
  const links = parts.map((part, i) => {
    const to = `${parts.slice(0, i + 1).join('/')}/`;
    return html`<a href="${withQuery(visit, { prefix: to, cursor: null })}">${short(part === '' ? '(empty)' : part, 60)}</a> / `;
  });
  return html`<p><a href="${withQuery(visit, { prefix: null, cursor: null })}">All objects</a> / ${links}</p>`;
}

function noObjects(visit: Visit, prefix: string): Html {
  if (prefix !== '') return html`<p>No objects below this prefix.</p>`;
  return teach(
    'No objects yet: upload a file, send one by PUT or S3, or by this call:',
    visit.samples([[putObjectCall, { bucket: visit.params.bucket, key: 'notes/hello.txt', content: 'Hello' }]]),
  );
}

function objects(visit: Visit, { items, prefixes }: Listing, prefix: string): Html {
  const keyText = (key: string) => short(key.slice(prefix.length) || key, 120);
  const folder = (key: string) =>
    html`<li><a href="${withQuery(visit, { prefix: key, cursor: null })}">${keyText(key)}</a></li>`;
  const inside = prefixes.length === 0 ? '' : html`<h3>Folders</h3><ul class="plain">${prefixes.map(folder)}</ul>`;
  if (items.length === 0 && prefixes.length > 0) return html`${inside}`;
  return html`${inside}${table<Listing['items'][number]>({
    caption: 'Objects',
    rows: items,
    empty: noObjects(visit, prefix),
    columns: [
      {
        title: 'Key',
        cell: ({ bucket, key }) => html`<a href="${visit.path(objectPath(bucket, key))}">${keyText(key)}</a>`,
      },
      { title: 'Type', cell: ({ content_type: type }) => short(type, 60) },
      { title: 'Size', kind: 'number', cell: ({ bytes }) => sizeText(bytes) },
      { title: 'Written', cell: ({ updated_at }) => ago(visit, updated_at) },
    ],
  })}`;
}

type RulesField = 'expire' | 'abort_uploads';

function rulesOf(form: URLSearchParams, name: RulesField): { prefix: string; days: number }[] {
  const lines = (form.get(name) ?? '').split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [, days, prefix = ''] = /^(\d+)(?:\s+(.*))?$/.exec(line) ?? [];
      if (days === undefined) throw invalidField(name, 'rule', 'A rule is a number of days, then a prefix: 30 tmp/');
      return { prefix, days: Number(days) };
    });
}

function notifyOf(form: URLSearchParams): { queue: string; events: string[] } | null {
  const queue = textOf(form, 'queue');
  if (queue === undefined) return null;
  return { queue, events: ['created', 'deleted'].filter((event) => form.get(event) !== null) };
}

const words = (form: URLSearchParams, name: string) =>
  (form.get(name) ?? '').split(/[\s,]+/).filter((word) => word !== '');

/** Rows without an origin are none. */
function corsOf(form: URLSearchParams): object[] {
  return Array.from({ length: CORS_RULES_MAX }, (_, row) => ({
    origins: words(form, `cors-${row}-origins`),
    methods: CORS_METHODS.filter((method) => form.get(`cors-${row}-${method}`) !== null),
    headers: words(form, `cors-${row}-headers`),
    expose: words(form, `cors-${row}-expose`),
    max_age_seconds: numberOf(form, `cors-${row}-max_age_seconds`) ?? null,
  })).filter(({ origins }) => origins.length > 0);
}

type Cors = Bucket['cors'][number];

/** Those that there are, and an empty one. */
function corsRows(visit: Visit, act: string, rules: readonly Cors[]): Html {
  const rows = [...rules, null].slice(0, CORS_RULES_MAX);
  return html`<h2>Web pages of other origins</h2>
<p>A page of such an origin may call the S3 address of this bucket, each call with its signature. The first rule that fits is answered.</p>
${rows.map((rule, row) => corsRow(visit, act, rule, row))}`;
}

function corsRow(visit: Visit, act: string, rule: Cors | null, row: number): Html {
  const name = (field: string) => `cors-${row}-${field}`;
  const plain = html`spellcheck="false"`;
  const legend = rule === null ? 'New rule' : `Rule ${row + 1}`;
  return html`<fieldset><legend>${legend}</legend>
${field(visit, act, { name: name('origins'), label: 'Origins', value: rule?.origins.join(' ') ?? '', hint: 'Such as https://app.example.com, apart by spaces; * once in each, for any characters. Empty: no rule.', attributes: plain })}
${CORS_METHODS.map((method) => checkbox(visit, act, { name: name(method), label: method, isChecked: rule?.methods.includes(method) ?? method === 'POST' }))}
${field(visit, act, { name: name('headers'), label: 'Headers that it may send', value: rule?.headers.join(' ') ?? '*', attributes: plain })}
${field(visit, act, { name: name('expose'), label: 'Headers that it may read', value: rule?.expose.join(' ') ?? 'ETag', attributes: plain })}
${field(visit, act, { name: name('max_age_seconds'), label: 'Seconds that browsers remember it', value: String(rule?.max_age_seconds ?? ''), attributes: html`inputmode="numeric"` })}
</fieldset>`;
}

function settingsFields(visit: Visit, act: string, { notify, cors, ...rules }: Bucket): Html {
  const lines = (name: RulesField) => rules[name].map(({ prefix, days }) => `${days} ${prefix}`.trim()).join('\n');
  const tells = (event: 'created' | 'deleted') => notify === null || notify.events.includes(event);
  return html`${field(visit, act, { name: 'expire', label: 'Expiry', value: lines('expire'), rows: 3, hint: 'A rule a line: days, then a prefix. “30 tmp/” deletes objects below tmp/ that were written 30 days ago; without a prefix, all.', attributes: html`spellcheck="false"` })}
${field(visit, act, { name: 'abort_uploads', label: 'Unfinished uploads', value: lines('abort_uploads'), rows: 2, hint: 'A rule a line, as above: uploads in parts that were begun so many days ago and not completed are aborted. Without a rule, those without a new part for seven days.', attributes: html`spellcheck="false"` })}
${field(visit, act, { name: 'queue', label: 'Tell a queue', value: notify?.queue ?? '', hint: 'Each change becomes a message in it, paid as queue.publish. Empty: none.', attributes: html`spellcheck="false"` })}
${checkbox(visit, act, { name: 'created', label: 'When an object is written', isChecked: tells('created') })}
${checkbox(visit, act, { name: 'deleted', label: 'When an object is deleted', isChecked: tells('deleted') })}
${corsRows(visit, act, cors)}`;
}
