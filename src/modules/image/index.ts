// The image module: image transformations, run in separate processes, and image generation by vendors or the sandbox, as jobs.
import type { Queryable } from '../../db/database.ts';
import { callbackRouteOf } from '../../jobs/due/callback.ts';
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { cancel } from './capabilities/cancel.ts';
import { capabilities } from './capabilities/capabilities.ts';
import { remove } from './capabilities/delete.ts';
import { generate } from './capabilities/generate.ts';
import { get } from './capabilities/get.ts';
import { info } from './capabilities/info.ts';
import { link } from './capabilities/link.ts';
import { list } from './capabilities/list.ts';
import { presetDelete } from './capabilities/preset-delete.ts';
import { presetList } from './capabilities/preset-list.ts';
import { presetSet } from './capabilities/preset-set.ts';
import { quote } from './capabilities/quote.ts';
import { status } from './capabilities/status.ts';
import { subscribe } from './capabilities/subscribe.ts';
import { transform } from './capabilities/transform.ts';
import { contentRoute } from './content.ts';
import { CALLBACK_PATH } from './due/image-work.ts';
import { imageEvents } from './events.ts';
import { imageKind, imageSweeps } from './jobs/kind.ts';
import { STORAGE_PRICE } from './jobs/price.ts';
import { imageLimits } from './limits.ts';
import { linkRoute } from './links/link-route.ts';
import { presetLimits } from './links/presets.ts';
import { renderedSweeps } from './links/rendered.ts';
import { imageFamily } from './models/family.ts';
import { openaiRoutes } from './openai/routes.ts';
import { type StartedImage, startImage } from './state.ts';

const { shape, store } = imageKind.tables;
const liveJobs = async (db: Queryable, accountId: string) => (await store.live(db, [accountId])).get(accountId) ?? 0;

export const image = defineModule<StartedImage>({
  name: 'image',
  summary: 'Images: resized, cropped, converted, and made of words by vendors or the sandbox.',
  status: 'beta',
  shownBy: ['image.transform', 'image.generate'],
  clients: [{ client: "OpenAI's clients", address: '{base_url}/v1', use: 'images', serves: ['image.generate'] }],
  capabilities: [
    ...[transform, info, link, presetSet, presetList, presetDelete],
    ...[generate, quote, status, get, list, cancel, remove, subscribe, capabilities],
  ],
  finders: [
    finder('image', list, ({ job_id: id, prompt }) => ({
      id,
      name: prompt === '' ? id : prompt,
      path: `/images/${id}`,
    })),
  ],
  console: async () => (await import('./console/index.ts')).imageConsole,
  // What the sandbox takes; vendors' prices stand in the operator's file.
  prices: {
    'image.transform': { unit: 'image', nanosPerUnit: 200_000n },
    'image.generate': { unit: 'image', nanosPerUnit: 1_000_000n },
    [STORAGE_PRICE]: { unit: 'GiB-day', nanosPerUnit: 1_000_000n },
  },
  limits: { image_jobs: { ...imageLimits.image_jobs, used: liveJobs }, ...presetLimits },
  events: imageEvents,
  models: imageFamily,
  rawRoutes: [contentRoute, linkRoute, callbackRouteOf(shape, CALLBACK_PATH), ...openaiRoutes],
  start: startImage,
  isEmpty: noRowIn('image.job'),
  sweeps: (state) => [...imageSweeps(state), ...renderedSweeps(state.core)],
  jobs: ({ loops }) => loops,
  liveWork: (db, accountId, ids) => store.findUnsettled(db, accountId, ids),
});
