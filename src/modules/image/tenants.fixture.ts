// How another account could name jobs of this one: what the tenant loop of the contract tests needs.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';
import { PICTURE } from './capabilities/examples.ts';

const small = { source: { data: PICTURE }, resize: { width: 2 }, inline: true };
// The sandbox fails it before anything is drawn: names of jobs are all that is asked for.
const quick = { prompt: 'A boat. [[fail:VENDOR_ERROR]]', model: 'sandbox/card-1', size: '256x256' };

export const tenants: TenantFixture = {
  first: 'image.generate',
  nobody: { image: 'img_1111111111111111111111' },
  async fill({ act }) {
    await act('image.transform', { ...small, idempotency_key: 'shared' });
    await act('image.generate', quick);
    return { image: (await act('image.generate', { ...quick, idempotency_key: 'shared' })).job_id };
  },
  async fillOther({ act }) {
    return { image: (await act('image.generate', quick)).job_id };
  },
  aims: {
    'image.transform': [],
    'image.info': [],
    'image.generate': [],
    'image.quote': [],
    'image.capabilities': [],
    'image.list': [],
    'image.get': [(names) => ({ id: names.image })],
    'image.status': [(names) => ({ id: names.image })],
    'image.webhook.subscribe': [(names) => ({ id: names.image, webhook_url: 'https://example.org/images' })],
    'image.cancel': [(names) => ({ id: names.image })],
    'image.delete': [(names) => ({ id: names.image })],
  },
  lists: { 'image.list': () => ({}) },
  keyed: [
    ['image.transform', small],
    ['image.generate', quick],
  ],
};
