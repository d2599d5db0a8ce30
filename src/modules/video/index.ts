// The video module: videos from prompts, by vendors or by the sandbox, as jobs with links to what was made.

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
import { callbackRoute } from './due/callback.ts';
import { videoEvents } from './events.ts';
import { liveJobCount } from './jobs/begin.ts';
import { STORAGE_PRICE } from './jobs/price.ts';
import { unsettledJobs } from './jobs/store.ts';
import { videoLimits } from './limits.ts';
import { videoFamily } from './models/family.ts';
import { openaiRoutes } from './openai/routes.ts';
import { type VideoSettings, videoSettings } from './settings.ts';
import { type StartedVideo, startVideo } from './start.ts';
import { videoSweeps } from './sweeps.ts';

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
  limits: { video_jobs: { ...videoLimits.video_jobs, used: liveJobCount } },
  events: videoEvents,
  models: videoFamily,
  settings: videoSettings,
  rawRoutes: [contentRoute, callbackRoute, ...openaiRoutes],
  start: startVideo,
  isEmpty: noRowIn('video.job'),
  sweeps: videoSweeps,
  jobs: ({ loops }) => loops,
  liveWork: unsettledJobs,
});
