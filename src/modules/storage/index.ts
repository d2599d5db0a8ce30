// The storage module: objects in buckets, by the native API and for Amazon S3 clients.

import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { heldBytes } from '../../objects/held.ts';
import { HELD_PRICE, heldBytesMax, READ_PRICE, WRITE_PRICE } from '../../objects/limits.ts';
import { bucketLimits, bucketTable } from './buckets/buckets.ts';
import { createBucket } from './capabilities/bucket-create.ts';
import { deleteBucket } from './capabilities/bucket-delete.ts';
import { getBucket } from './capabilities/bucket-get.ts';
import { listBuckets } from './capabilities/bucket-list.ts';
import { setBucketSettings } from './capabilities/bucket-settings.ts';
import { copyObject } from './capabilities/object-copy.ts';
import { deleteObjects } from './capabilities/object-delete.ts';
import { getObject } from './capabilities/object-get.ts';
import { headObject } from './capabilities/object-head.ts';
import { listObjectsCall } from './capabilities/object-list.ts';
import { putObjectCall } from './capabilities/object-put.ts';
import { presign } from './capabilities/presign.ts';
import { createShare } from './capabilities/share-create.ts';
import { listShares } from './capabilities/share-list.ts';
import { revokeShare } from './capabilities/share-revoke.ts';
import { linkUpload } from './capabilities/upload-link.ts';
import { contentRoute, sharedRoute } from './content.ts';
import { examineStorage } from './examine.ts';
import { storageProblems } from './problems.ts';
import { s3Routes } from './s3/routes.ts';
import { type StorageSettings, storageSettings } from './settings.ts';
import { type StartedStorage, startStorage } from './state.ts';
import { storageSweeps } from './sweeps.ts';
import { uploadRoute } from './upload.ts';

export const storage = defineModule<StartedStorage, StorageSettings>({
  name: 'storage',
  summary: 'Objects in buckets: files of any size, shared links, expiry, and the S3 wire.',
  status: 'ga',
  shownBy: ['storage.object.put', 'storage.object.get'],
  capabilities: [
    ...[createBucket, listBuckets, getBucket, setBucketSettings, deleteBucket],
    ...[putObjectCall, getObject, headObject, listObjectsCall, copyObject, deleteObjects],
    ...[presign, linkUpload, createShare, listShares, revokeShare],
  ],
  finders: [finder('bucket', listBuckets, ({ bucket }) => ({ id: bucket, name: bucket, path: `/storage/${bucket}` }))],
  prices: {
    [WRITE_PRICE]: { unit: 'write', nanosPerUnit: 5_000n },
    [READ_PRICE]: { unit: 'read', nanosPerUnit: 400n },
    [HELD_PRICE]: { unit: '131.4 MB-seconds', nanosPerUnit: 1n },
  },
  limits: { ...bucketLimits, stored_bytes: { ...heldBytesMax, used: heldBytes } },
  problems: storageProblems,
  rawRoutes: [contentRoute, sharedRoute, uploadRoute, ...s3Routes],
  clients: [
    {
      client: 'Amazon S3 clients (AWS SDKs, boto3, rclone, s3cmd, minio)',
      address: '{base_url}/s3',
      use: 'objects in buckets; credentials by `qm keys aws`',
      serves: [
        ...['storage.bucket.create', 'storage.bucket.list', 'storage.bucket.get', 'storage.bucket.settings'],
        ...['storage.bucket.delete', 'storage.object.put', 'storage.object.get', 'storage.object.head'],
        ...['storage.object.list', 'storage.object.copy', 'storage.object.delete'],
      ],
    },
  ],
  settings: storageSettings,
  start: startStorage,
  console: async () => (await import('./console/index.ts')).storageConsole,
  isEmpty: bucketTable.isEmpty,
  examine: examineStorage,
  sweeps: ({ core }) => storageSweeps(core),
  jobs: ({ loops }) => loops,
});
