// The web module: pages as Markdown, text, HTML or JSON, fetched by the rules that sites set (robots.txt).
import { defineModule } from '../../kit/module.ts';
import { cancelCrawl } from './capabilities/crawl/cancel.ts';
import { crawl } from './capabilities/crawl/create.ts';
import { getCrawl } from './capabilities/crawl/get.ts';
import { listCrawls } from './capabilities/crawl/list.ts';
import { fetch } from './capabilities/fetch.ts';
import { map } from './capabilities/map.ts';
import { screenshot } from './capabilities/screenshot.ts';
import { search } from './capabilities/search.ts';
import { crawlLoop } from './crawl/step.ts';
import { crawlLimits, crawlTable, deleteFinished } from './crawl/store.ts';
import { hostSweep } from './fetch/pace.ts';
import { firecrawlRoutes } from './firecrawl/routes.ts';
import { CRAWL_KEPT_HOURS, DRAWN, FETCH, SHOT } from './limits.ts';
import { webProblems } from './problems.ts';
import { SEARCH_NANOS, searchFamily } from './search/family.ts';
import { type WebSettings, webSettings } from './settings.ts';
import { startWeb, type WebState } from './state.ts';

export const web = defineModule<WebState, WebSettings>({
  name: 'web',
  summary: 'Web pages as Markdown, text or JSON; crawls, screenshots, search.',
  status: 'beta',
  capabilities: [fetch, map, search, screenshot, crawl, getCrawl, listCrawls, cancelCrawl],
  limits: crawlLimits,
  console: async () => (await import('./console/index.ts')).webConsole,
  // A search costs so much where the engine is the operator's own; prices of others stand in the operator's file.
  prices: {
    [FETCH]: { unit: 'page', nanosPerUnit: 200_000n },
    [DRAWN]: { unit: 'page', nanosPerUnit: 2_000_000n },
    [SHOT]: { unit: 'picture', nanosPerUnit: 2_000_000n },
    'web.map': { unit: 'site', nanosPerUnit: 200_000n },
    'web.search': { unit: 'search', nanosPerUnit: SEARCH_NANOS },
  },
  models: searchFamily,
  rawRoutes: firecrawlRoutes,
  clients: [
    {
      client: "Firecrawl's clients",
      address: '{base_url}/v1/web/firecrawl',
      use: 'scrape, map, search, crawl',
      serves: ['web.fetch', 'web.map', 'web.search', 'web.crawl'],
    },
  ],
  problems: webProblems,
  settings: webSettings,
  start: startWeb,
  close: async ({ readers, browsers }) => void (await Promise.all([readers.close(), browsers.close()])),
  isEmpty: crawlTable.isEmpty,
  sweeps: ({ core }) => [
    hostSweep(core.db),
    { name: 'web.crawls', intervalMs: 60_000, run: () => deleteFinished(core.db, CRAWL_KEPT_HOURS) },
  ],
  jobs: (state) => [crawlLoop(state)],
});
