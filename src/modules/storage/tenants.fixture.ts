// Tenant-isolation fixture of buckets, objects and shares, for the contract tests: creates them, and
// lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

const nobody = { bucket: 'zz-bucket', key: 'zz-key', share: `shr_${'1'.repeat(22)}` };

export const tenants: TenantFixture = {
  first: 'storage.bucket.create',
  nobody,
  async fill({ act }) {
    await act('storage.bucket.create', { bucket: 'aa-bucket' });
    await act('storage.bucket.create', { bucket: 'ab-bucket' });
    await act('storage.object.put', { bucket: 'aa-bucket', key: 'aa-key', content: 'aa' });
    await act('storage.object.put', { bucket: 'aa-bucket', key: 'zz-key-2', content: 'bb', idempotency_key: 'shared' });
    const share = () => act('storage.share.create', { bucket: 'aa-bucket', key: 'aa-key' });
    const [first] = [await share(), await share()];
    return { bucket: 'aa-bucket', key: 'aa-key', share: first.share_id };
  },
  async fillOther({ act }) {
    await act('storage.bucket.create', { bucket: 'of-b' });
    return { bucket: 'of-b' };
  },
  aims: {
    'storage.bucket.create': [],
    'storage.bucket.settings': [({ bucket }) => ({ bucket, expire: [{ prefix: '', days: 1 }] })],
    'storage.object.put': [({ bucket, key }) => ({ bucket, key, content: 'of b' })],
    'storage.object.copy': [
      ({ bucket, key }) => ({ bucket, key, to_bucket: 'of-b', to_key: 'stolen' }),
      ({ bucket, key }) => ({ bucket: 'of-b', key, to_bucket: bucket, to_key: 'planted' }),
    ],
    'storage.object.delete': [({ bucket, key }) => ({ bucket, keys: [key as string] })],
    'storage.presign': [],
    'storage.upload.link': [({ bucket, key }) => ({ bucket, key })],
    'storage.share.revoke': [({ share }) => ({ share_id: share })],
  },
  keyed: [['storage.object.put', { bucket: 'of-b', key: 'k', content: 'of b' }]],
};
