// How another account could name buckets and objects of this one: what the tenant loop of the contract tests needs.
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
    'storage.bucket.list': [],
    'storage.bucket.get': [({ bucket }) => ({ bucket })],
    'storage.bucket.settings': [({ bucket }) => ({ bucket, expire: [{ prefix: '', days: 1 }] })],
    'storage.bucket.delete': [({ bucket }) => ({ bucket })],
    'storage.object.put': [({ bucket, key }) => ({ bucket, key, content: 'of b' })],
    'storage.object.get': [({ bucket, key }) => ({ bucket, key })],
    'storage.object.head': [({ bucket, key }) => ({ bucket, key })],
    'storage.object.list': [({ bucket }) => ({ bucket })],
    'storage.object.copy': [
      ({ bucket, key }) => ({ bucket, key, to_bucket: 'of-b', to_key: 'stolen' }),
      ({ bucket, key }) => ({ bucket: 'of-b', key, to_bucket: bucket, to_key: 'planted' }),
    ],
    'storage.object.delete': [({ bucket, key }) => ({ bucket, keys: [key as string] })],
    'storage.presign': [],
    'storage.share.create': [({ bucket, key }) => ({ bucket, key })],
    'storage.share.list': [],
    'storage.share.revoke': [({ share }) => ({ share_id: share })],
  },
  lists: {
    'storage.bucket.list': () => ({}),
    'storage.object.list': ({ bucket }) => ({ bucket }),
    'storage.share.list': () => ({}),
  },
  keyed: [['storage.object.put', { bucket: 'of-b', key: 'k', content: 'of b' }]],
};
