// The buckets of the account, and the links that people have to objects.

import { actForm, field, textOf } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { teach } from '../../../kit/console/table.ts';
import { ago, count, short, sizeText } from '../../../kit/console/text.ts';
import { html } from '../../../lib/html.ts';
import { createBucket } from '../capabilities/bucket-create.ts';
import { listBuckets } from '../capabilities/bucket-list.ts';
import { putObjectCall } from '../capabilities/object-put.ts';
import { createShare } from '../capabilities/share-create.ts';
import { listShares } from '../capabilities/share-list.ts';
import { revokeShare } from '../capabilities/share-revoke.ts';
import { bucketPath, objectPath } from './bucket.ts';

export const bucketsPage = listPage({
  name: 'buckets',
  path: '/storage',
  nav: { label: 'Storage', key: 'b', group: 'build' },
  title: 'Storage',
  caption: 'All buckets',
  list: listBuckets,
  intro: 'Buckets are private: the page of an object makes links for people.',
  empty: (visit) =>
    teach(
      'No buckets yet. To create one and store a file:',
      visit.samples([
        [createBucket, { bucket: 'reports' }],
        [putObjectCall, { bucket: 'reports', key: 'hello.txt', content: 'Hello' }],
      ]),
    ),
  columns: (visit) => [
    {
      title: 'Bucket',
      cell: ({ bucket }) => html`<a href="${visit.path(bucketPath(bucket))}">${short(bucket, 80)}</a>`,
    },
    { title: 'Objects', kind: 'number', cell: ({ object_count: objects }) => count(objects) },
    { title: 'Size', kind: 'number', cell: ({ bytes }) => sizeText(bytes) },
    {
      title: 'Expiry',
      cell: ({ expire }) => (expire.length === 0 ? html`<span class="quiet">never</span>` : `${expire.length} rules`),
    },
    { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
  ],
  create: {
    capability: createBucket,
    heading: 'New bucket',
    input: (form) => ({ bucket: textOf(form, 'bucket') }),
    done: 'Bucket created.',
    next: ({ bucket }) => bucketPath(bucket),
    form: (
      visit,
      act,
    ) => html`${field(visit, act, { name: 'bucket', label: 'Name', value: '', isRequired: true, hint: '3 to 63 lower-case letters, digits, - and .', attributes: html`spellcheck="false"` })}
<button class="main">Create bucket</button>`,
  },
});

export const sharesPage = listPage({
  name: 'shares',
  path: '/storage/-/links',
  title: 'Links for people',
  back: { title: 'Storage', path: '/storage' },
  intro: 'Whoever has such a link can download its object without a key. Each download costs as a read.',
  caption: 'Links',
  list: listShares,
  empty: (visit) =>
    teach(
      'No links. The page of an object makes one, or this call:',
      visit.samples([[createShare, { bucket: 'files', key: 'notes/hello.txt' }]]),
    ),
  columns: (visit) => [
    {
      title: 'Object',
      cell: ({ bucket, key }) =>
        html`<a href="${visit.path(objectPath(bucket, key))}">${short(`${bucket}/${key}`, 100)}</a>`,
    },
    {
      title: 'Downloads',
      kind: 'number',
      cell: ({ downloads, downloads_max: most }) =>
        most === null ? count(downloads) : `${count(downloads)} of ${count(most)}`,
    },
    { title: 'Expires', cell: ({ expires_at }) => ago(visit, expires_at) },
    {
      title: 'Revoke',
      cell: ({ share_id }) =>
        visit.may(revokeShare)
          ? actForm(visit, 'revoke', html`<button class="danger">Revoke</button>`, { share_id })
          : '',
    },
  ],
  acts: {
    revoke: {
      capability: revokeShare,
      input: (form) => ({ share_id: form.get('share_id') }),
      done: 'Link revoked.',
    },
  },
});
