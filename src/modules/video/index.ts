// The video module: videos from prompts, by vendors or the sandbox, as jobs with links to the results.

import type { Queryable } from '../../db/database.ts';
import { callbackRouteOf } from '../../jobs/due/callback.ts';
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { cancel } from './capabilities/cancel.ts';
import { capabilities } from './capabilities/capabilities.ts';
import { remove } from './capabilities/delete.ts';
import { downloadUrl } from './capabilities/download-url.ts';
import { extend } from './capabilities/extend.ts';
import { generate } from './capabilities/generate.ts';
import { get } from './capabilities/get.ts';
import { list } from './capabilities/list.ts';
import { quote } from './capabilities/quote.ts';
import { status } from './capabilities/status.ts';
import { subscribe } from './capabilities/subscribe.ts';
import { upscale } from './capabilities/upscale.ts';
import { contentRoute } from './content.ts';
import { CALLBACK_PATH } from './due/video-work.ts';
import { videoEvents } from './events.ts';
import { videoKind, videoSweeps } from './jobs/kind.ts';
import { STORAGE_PRICE } from './jobs/price.ts';
import { videoLimits } from './limits.ts';
import { videoFamily } from './models/family.ts';
import { openaiRoutes } from './openai/routes.ts';
import { type VideoSettings, videoSettings } from './settings.ts';
import { type StartedVideo, startVideo } from './start.ts';

const { shape, store } = videoKind.tables;
const liveJobs = async (db: Queryable, accountId: string) => (await store.live(db, [accountId])).get(accountId) ?? 0;
const second = { unit: 'second', nanosPerUnit: 1_000_000n };

export const video = defineModule<StartedVideo, VideoSettings>({
  name: 'video',
  summary: 'Videos of words: jobs at vendors you choose or in the sandbox, progress, links, storage.',
  status: 'beta',
  shownBy: ['video.download_url', 'video.quote'],
  clients: [
    {
      client: "OpenAI's clients",
      address: '{base_url}/v1',
      use: 'videos',
      serves: ['video.generate', 'video.get', 'video.list', 'video.delete', 'video.download_url'],
    },
  ],
  capabilities: [
    generate,
    quote,
    status,
    get,
    list,
    downloadUrl,
    extend,
    upscale,
    cancel,
    remove,
    subscribe,
    capabilities,
  ],
  finders: [
    finder('video', list, ({ job_id: id, prompt }) => ({
      id,
      name: prompt === '' ? id : prompt,
      path: `/video/${id}`,
    })),
  ],
  console: async () => (await import('./console/index.ts')).videoConsole,
  // What the sandbox takes; vendors' prices stand in the operator's file.
  prices: {
    'video.generate': second,
    'video.extend': second,
    'video.upscale': second,
    [STORAGE_PRICE]: { unit: 'GiB-day', nanosPerUnit: 1_000_000n },
  },
  limits: { video_jobs: { ...videoLimits.video_jobs, used: liveJobs } },
  events: videoEvents,
  models: videoFamily,
  settings: videoSettings,
  rawRoutes: [contentRoute, callbackRouteOf(shape, CALLBACK_PATH), ...openaiRoutes],
  start: startVideo,
  isEmpty: noRowIn('video.job'),
  sweeps: videoSweeps,
  jobs: ({ loops }) => loops,
  liveWork: (db, accountId, ids) => store.findUnsettled(db, accountId, ids),
});
