// One object: what is known of it, its content on demand (reading costs), a link for people, a copy, and its deletion.

import { codeBlock, copiedBlock, copiedId } from '../../../kit/console/copied.ts';
import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { actButton, actForm, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { instantField, secondsUntil } from '../../../kit/console/instant-field.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { facts } from '../../../kit/console/table.ts';
import { ago, ownPath, payload, short, sizeText } from '../../../kit/console/text.ts';
import { typedPage } from '../../../kit/console/typed.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS, iso } from '../../../lib/time.ts';
import { copyObject } from '../capabilities/object-copy.ts';
import { deleteObjects } from '../capabilities/object-delete.ts';
import { getObject } from '../capabilities/object-get.ts';
import { headObject } from '../capabilities/object-head.ts';
import { createShare } from '../capabilities/share-create.ts';
import { bucketPath, objectPath } from './bucket.ts';

type Stored = DataOf<typeof headObject>;
type Read = DataOf<typeof getObject>;

const SHARED_MS = 7 * DAY_MS;
const objectInput = ({ params: { bucket = '' }, query }: Visit) => ({ bucket, key: query.get('key') ?? '' });
/** The folder that a key lies in, as the page of the bucket shows it. */
const folderPath = (bucket: string, key: string) => {
  const cut = key.lastIndexOf('/', key.length - 2);
  return cut === -1 ? bucketPath(bucket) : `${bucketPath(bucket)}?prefix=${encodeURIComponent(key.slice(0, cut + 1))}`;
};

export const objectPage: ConsolePage = {
  name: 'object',
  path: '/storage/{bucket}/object',
  needs: headObject,
  show,
  acts: {
    read: actOf({
      capability: getObject,
      input: (_, visit) => objectInput(visit),
      done: 'Object read.',
      answerView: (data, visit) => ({ title: data.key, content: html`${top(visit, data)}${contentOf(visit, data)}` }),
    }),
    share: actOf({
      capability: createShare,
      input: (form, visit) => ({
        ...objectInput(visit),
        expires_seconds: secondsUntil(form, 'expires_seconds', visit),
        downloads_max: numberOf(form, 'downloads_max'),
      }),
      done: 'Link created.',
      answerView: (data, visit) => ({
        title: 'Link created',
        content: html`${top(visit, data)}<h2>Link created</h2>
<p>Whoever has this address can download the object until ${ago(visit, data.expires_at)}. Each download costs as a read.</p>
${codeBlock('share', [{ language: 'bash', text: `curl -OJ '${data.url}'` }])}
${copiedBlock(html`<pre class="scroll text" tabindex="0" aria-label="Address">${data.url}</pre>`, 'the address')}
<p><a href="${visit.path('/storage/-/links')}">All links</a></p>`,
      }),
    }),
    copy: {
      capability: copyObject,
      input: (form, visit) => ({ ...objectInput(visit), to_key: textOf(form, 'to_key') }),
      done: 'Object copied.',
      next: (data, visit) => objectPath(visit.params.bucket ?? '', (data as Stored).key),
    },
  },
};

export const objectDeletePage = typedPage({
  name: 'object_delete',
  path: '/storage/{bucket}/delete-object',
  capability: deleteObjects,
  act: 'delete',
  what: 'delete the object',
  button: 'Delete',
  title: 'Delete an object',
  wanted: (visit) => objectInput(visit).key,
  async about(visit) {
    const { bucket, key, bytes, updated_at } = await visit.need(headObject, objectInput(visit));
    return {
      back: { label: 'Back to the object', path: objectPath(bucket, key) },
      heading: 'Delete the object',
      text: html`${short(key, 200)}: ${sizeText(bytes)}, written ${ago(visit, updated_at)}. It cannot be undone.`,
    };
  },
  input(_, visit) {
    const { bucket, key } = objectInput(visit);
    return { bucket, keys: [key] };
  },
  done: 'Object deleted.',
  next: (_, visit) => folderPath(objectInput(visit).bucket, objectInput(visit).key),
});

function top(visit: Visit, { bucket, key }: Pick<Stored, 'bucket' | 'key'>): Html {
  return html`<p><a href="${visit.path('/storage')}">Storage</a> / <a href="${visit.path(bucketPath(bucket))}">${short(bucket, 60)}</a></p>
<div class="head"><h1>${short(key, 160)}</h1></div>`;
}

async function show(visit: Visit): Promise<View> {
  const object = await visit.need(headObject, objectInput(visit));
  const content = html`${top(visit, object)}
${facts([
  ['Key', short(object.key, 1_024)],
  ['Size', sizeText(object.bytes)],
  ['Type', short(object.content_type, 120)],
  ['ETag', copiedId(object.etag, 'the ETag')],
  ['Written', ago(visit, object.updated_at)],
  ['First written', object.created_at === object.updated_at ? null : ago(visit, object.created_at)],
  ['Checksums', Object.keys(object.checksums).length === 0 ? null : short(pairs(object.checksums))],
  ['Metadata', Object.keys(object.metadata).length === 0 ? null : short(pairs(object.metadata), 500)],
])}
<div class="actions">${visit.may(getObject) ? actButton(visit, 'read', 'Show the content') : ''}</div>
<p class="quiet">Showing the content costs as a read. <a href="${visit.path('/storage/-/links')}">Links for people</a></p>
<div class="panels">${visit.may(createShare) ? shareForm(visit) : ''}${visit.may(copyObject) ? copyForm(visit, object) : ''}</div>
${dangerZone([
  visit.may(deleteObjects)
    ? {
        title: 'Delete this object',
        text: 'Its bytes and its metadata are deleted.',
        act: dangerLink(
          visit.path(`${bucketPath(object.bucket)}/delete-object?key=${encodeURIComponent(object.key)}`),
          'Delete…',
        ),
      }
    : null,
])}`;
  return { title: object.key.slice(0, 100).toWellFormed(), content };
}

const pairs = (of: Readonly<Record<string, string>>) =>
  Object.entries(of)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ');

function shareForm(visit: Visit): Html {
  return html`<section class="panel"><h2>Link for people</h2>${actForm(
    visit,
    'share',
    html`<div class="pair">${instantField(visit, 'share', { name: 'expires_seconds', label: 'Expires', value: iso(visit.nowMs + SHARED_MS) })}
${field(visit, 'share', { name: 'downloads_max', label: 'Downloads', value: '', hint: 'Empty: any number.', attributes: html`inputmode="numeric"` })}</div>
<button>Create a link</button>`,
  )}</section>`;
}

function copyForm(visit: Visit, { key }: Stored): Html {
  return html`<section class="panel"><h2>Copy</h2>${actForm(
    visit,
    'copy',
    html`${field(visit, 'copy', { name: 'to_key', label: 'To the key', value: key, isRequired: true, attributes: html`spellcheck="false"` })}
<button>Copy</button>`,
  )}</section>`;
}

function contentOf(visit: Visit, object: Read): Html {
  const back = html`<p><a href="${visit.path(objectPath(object.bucket, object.key))}">Back to the object</a></p>`;
  const { content, content_base64: base64, content_type: type, url } = object;
  const isPicture = /^image\/(png|jpeg|gif|webp|avif)\b/.test(type);
  if (url !== null) {
    const picture = isPicture ? html`<p><img class="preview" src="${ownPath(url)}" alt="${object.key}"></p>` : '';
    return html`${picture}<p><a class="button" href="${ownPath(url)}">Download</a> <span class="quiet">${sizeText(object.bytes)}; the link works for an hour.</span></p>${back}`;
  }
  if (content !== null)
    return html`<section class="panel"><h2>Content</h2>${payload(content, 'Content', { call: 'storage.object.get' })}</section>${back}`;
  const data = `data:${isPicture ? type : 'application/octet-stream'};base64,${base64}`;
  if (isPicture) return html`<p><img class="preview" src="${data}" alt="${object.key}"></p>${back}`;
  return html`<p>${sizeText(object.bytes)} that are no text. <a class="button" href="${data}" download="${object.key.split('/').at(-1) ?? 'object'}">Download</a></p>${back}`;
}
