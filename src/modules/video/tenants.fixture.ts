// Tenant-isolation fixture of video jobs, for the contract tests: creates them, and lists calls of another account that name them.
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

// The sandbox fails it before anything is drawn: names of jobs are all that is asked for.
const quick = { prompt: 'A boat. [[fail:VENDOR_ERROR]]', model: 'sandbox/storyboard-1', duration_seconds: 1 };

export const tenants: TenantFixture = {
  first: 'video.generate',
  nobody: { video: 'vid_1111111111111111111111' },
  async fill({ act }) {
    await act('video.generate', quick);
    return { video: (await act('video.generate', { ...quick, idempotency_key: 'shared' })).job_id };
  },
  async fillOther({ act }) {
    return { video: (await act('video.generate', quick)).job_id };
  },
  aims: {
    'video.generate': [],
    'video.quote': [],
    'video.list': [],
    'video.get': [(names) => ({ job_id: names.video })],
    'video.status': [(names) => ({ job_id: names.video })],
    'video.download_url': [(names) => ({ job_id: names.video })],
    'video.extend': [(names) => ({ job_id: names.video })],
    'video.upscale': [(names) => ({ job_id: names.video, resolution: '1080p' })],
    'video.webhook.subscribe': [(names) => ({ job_id: names.video, webhook_url: 'https://example.org/videos' })],
    'video.cancel': [(names) => ({ job_id: names.video })],
    'video.delete': [(names) => ({ job_id: names.video })],
  },
  keyed: [['video.generate', quick]],
};
