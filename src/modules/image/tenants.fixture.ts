// Tenant-isolation fixture of image jobs and presets, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';
import { PICTURE } from './capabilities/examples.ts';

const small = { source: { content_base64: PICTURE }, resize: { width: 2 }, inline: true };
// The sandbox fails it before anything is drawn: names of jobs are all that is asked for.
const quick = { prompt: 'A boat. [[fail:VENDOR_ERROR]]', model: 'sandbox/card-1', size: '256x256' };

export const tenants: TenantFixture = {
  first: 'image.generate',
  nobody: { image: 'img_1111111111111111111111', preset: 'zz-preset' },
  async fill({ act }) {
    await act('image.transform', { ...small, idempotency_key: 'shared' });
    await act('image.generate', quick);
    await act('image.preset.set', { name: 'aa-preset', transform: { resize: { width: 2 } } });
    await act('image.preset.set', { name: 'ab-preset', transform: { resize: { width: 2 } } });
    const made = await act('image.generate', { ...quick, idempotency_key: 'shared' });
    return { image: made.job_id, preset: 'aa-preset' };
  },
  async fillOther({ act }) {
    await act('image.preset.set', { name: 'of-b', transform: { resize: { width: 2 } } });
    return { image: (await act('image.generate', quick)).job_id, preset: 'of-b' };
  },
  aims: {
    'image.transform': [],
    'image.info': [],
    // What the address shows is looked for in the account that the address names, which is that of the call.
    'image.link': [({ preset }) => ({ source: { bucket: 'none', key: 'none' }, preset })],
    'image.preset.set': [({ preset }) => ({ name: preset, transform: { resize: { width: 9 } } })],
    'image.preset.delete': [({ preset }) => ({ name: preset })],
    'image.generate': [],
    'image.quote': [],
    'image.list': [],
    'image.get': [(names) => ({ job_id: names.image })],
    'image.status': [(names) => ({ job_id: names.image })],
    'image.webhook.subscribe': [(names) => ({ job_id: names.image, webhook_url: 'https://example.org/images' })],
    'image.cancel': [(names) => ({ job_id: names.image })],
    'image.delete': [(names) => ({ job_id: names.image })],
  },
  keyed: [
    ['image.transform', small],
    ['image.generate', quick],
  ],
};
