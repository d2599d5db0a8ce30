// One bucket: its objects as folders, an upload, and its settings.

import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actForm, checkbox, field, textOf } from '../../../kit/console/form.ts';
import { asksForNew, type NewForm, newView } from '../../../kit/console/new.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { figures, more, pageTabs, table, withQuery } from '../../../kit/console/table.ts';
import { ago, count, short, sizeText } from '../../../kit/console/text.ts';
import { deletionPage } from '../../../kit/console/typed.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { deleteBucket } from '../capabilities/bucket-delete.ts';
import { getBucket } from '../capabilities/bucket-get.ts';
import { setBucketSettings } from '../capabilities/bucket-settings.ts';
import { listObjectsCall } from '../capabilities/object-list.ts';
import { putObjectCall } from '../capabilities/object-put.ts';

type Bucket = DataOf<typeof getBucket>;
type Listing = DataOf<typeof listObjectsCall>;

const ROWS = 50;
const bucketOf = ({ params: { bucket = '' } }: Visit) => bucket;
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

export const bucketPage: ConsolePage = {
  name: 'bucket',
  path: '/storage/{bucket}',
  needs: listObjectsCall,
  isLive: true,
  show,
  acts: {
    put: {
      capability: putObjectCall,
      input: (form, visit) => ({
        bucket: bucketOf(visit),
        key: textOf(form, 'key'),
        content: form.get('content') ?? '',
        content_type: textOf(form, 'content_type'),
      }),
      done: 'Object stored.',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const bucket = bucketOf(visit);
  if (asksForNew(visit, newObject)) return newView(visit, newObject);
  const prefix = visit.query.get('prefix') ?? '';
  const cursor = visit.query.get('cursor') ?? undefined;
  const [one, list] = await Promise.all([
    visit.need(getBucket, { bucket }),
    visit.call(listObjectsCall, { bucket, prefix, delimiter: '/', limit: ROWS, cursor }),
  ]);
  const content = html`${head(visit, one, '')}
${panel(visit, 'Objects', list, (data) => html`${folders(visit, prefix)}${objects(visit, data, prefix)}${more(visit, data)}`)}`;
  return { title: bucket, content };
}

/** What the pages of a bucket show above all else. */
function head(
  visit: Visit,
  { bucket, object_count: objects, bytes, created_at }: Bucket,
  here: '' | '/settings',
): Html {
  const at = visit.path(bucketPath(bucket));
  const tab = (text: string, below: '' | '/settings') => ({ text, href: `${at}${below}`, isHere: below === here });
  return html`<p><a href="${visit.path('/storage')}">Storage</a></p>
<div class="head"><h1>${short(bucket, 100)}</h1>${here === '' && visit.may(putObjectCall) ? html`<div class="actions">${uploadOf(visit, bucket)}<a class="button" href="${withQuery(visit, { new: '1', cursor: null })}">${newObject.heading}</a></div>` : ''}</div>
${figures([
  ['Objects', count(objects)],
  ['Size', sizeText(bytes)],
  ['Created', ago(visit, created_at)],
])}
${pageTabs('Pages of the bucket', [tab('Objects', ''), tab('Settings', '/settings')])}`;
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

function objects(visit: Visit, { items, prefixes }: Listing, prefix: string): Html {
  const keyText = (key: string) => short(key.slice(prefix.length) || key, 120);
  const folder = (key: string) =>
    html`<li><a href="${withQuery(visit, { prefix: key, cursor: null })}">${keyText(key)}</a></li>`;
  const inside = prefixes.length === 0 ? '' : html`<h3>Folders</h3><ul class="plain">${prefixes.map(folder)}</ul>`;
  if (items.length === 0 && prefixes.length > 0) return html`${inside}`;
  return html`${inside}${table<Listing['items'][number]>({
    caption: 'Objects',
    rows: items,
    empty: html`<p>No objects${prefix === '' ? ' yet: upload a file, or send one by PUT, by S3 or with storage.object.put' : ' below this prefix'}.</p>`,
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

export const bucketSettingsPage: ConsolePage = {
  name: 'bucket_settings',
  path: '/storage/{bucket}/settings',
  needs: getBucket,
  show: showSettings,
  acts: {
    settings: {
      capability: setBucketSettings,
      input: (form, visit) => ({
        bucket: bucketOf(visit),
        expire: rulesOf(form, 'expire'),
        abort_uploads: rulesOf(form, 'abort_uploads'),
        notify: notifyOf(form),
      }),
      done: 'Settings saved.',
    },
  },
};

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

async function showSettings(visit: Visit): Promise<View> {
  const one = await visit.need(getBucket, { bucket: bucketOf(visit) });
  const content = html`${head(visit, one, '/settings')}
${visit.may(setBucketSettings) ? settingsForm(visit, one) : html`<p class="quiet">You may not change it.</p>`}
${dangerZone([
  visit.may(deleteBucket)
    ? {
        title: 'Delete this bucket',
        text:
          one.object_count === 0
            ? 'It holds no objects. Unfinished uploads to it are aborted.'
            : 'Only an empty bucket can be deleted: delete its objects first.',
        act: dangerLink(visit.path(`${bucketPath(one.bucket)}/delete`), 'Delete…'),
      }
    : null,
])}`;
  return { title: `Settings of ${one.bucket}`, content };
}

function settingsForm(visit: Visit, { notify, ...rules }: Bucket): Html {
  const lines = (name: RulesField) => rules[name].map(({ prefix, days }) => `${days} ${prefix}`.trim()).join('\n');
  const tells = (event: 'created' | 'deleted') => notify === null || notify.events.includes(event);
  return actForm(
    visit,
    'settings',
    html`${field(visit, 'settings', { name: 'expire', label: 'Expiry', value: lines('expire'), rows: 3, hint: 'A rule a line: days, then a prefix. “30 tmp/” deletes objects below tmp/ that were written 30 days ago; without a prefix, all.', attributes: html`spellcheck="false"` })}
${field(visit, 'settings', { name: 'abort_uploads', label: 'Unfinished uploads', value: lines('abort_uploads'), rows: 2, hint: 'A rule a line, as above: uploads in parts that were begun so many days ago and not completed are aborted. Without a rule, those without a new part for seven days.', attributes: html`spellcheck="false"` })}
${field(visit, 'settings', { name: 'queue', label: 'Tell a queue', value: notify?.queue ?? '', hint: 'Each change becomes a message in it, paid as queue.publish. Empty: none.', attributes: html`spellcheck="false"` })}
${checkbox(visit, 'settings', { name: 'created', label: 'When an object is written', isChecked: tells('created') })}
${checkbox(visit, 'settings', { name: 'deleted', label: 'When an object is deleted', isChecked: tells('deleted') })}
<button class="main">Save</button>`,
  );
}

export const bucketDeletePage = deletionPage({
  name: 'bucket_delete',
  path: '/storage/{bucket}/delete',
  noun: 'bucket',
  capability: deleteBucket,
  parameter: 'bucket',
  async about(visit, sent) {
    const { bucket, object_count: objects } = await visit.need(getBucket, { bucket: sent });
    const held = objects === 0 ? 'no objects.' : `${count(objects)} objects: it can be deleted once they are.`;
    const text = `It holds ${held} Its settings are deleted with it, and unfinished uploads to it are aborted.`;
    return { label: bucket, back: `${bucketPath(bucket)}/settings`, text };
  },
  next: '/storage',
});
