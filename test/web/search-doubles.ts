// Search engines as their documentation describes them: SearXNG (docs.searxng.org/dev/search_api) and Brave's web search.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const BRAVE_KEY = 'brave-key-0123456789';

export type EngineAnswer = { readonly status: number; readonly json: unknown } | 'hang' | 'reset' | 'html';

export interface EngineDouble {
  readonly url: string;
  readonly asked: URL[];
  /** Answers of the next searches, in order; the usual one when there is none. */
  readonly script: EngineAnswer[];
  stop(): Promise<void>;
}

export function startSearxng(): Promise<EngineDouble> {
  return start((_, asked) => {
    if (asked.pathname !== '/search' || asked.searchParams.get('format') !== 'json') return { status: 403, json: null };
    const query = asked.searchParams.get('q');
    const results = Array.from({ length: 30 }, (_none, i) => ({
      url: `https://example.org/${i}`,
      title: `Result ${i} of ${query}`,
      content: `List<T> & more of ${i}`,
      engine: 'duckduckgo',
      engines: ['duckduckgo'],
      positions: [i + 1],
      score: 1,
      category: 'general',
      parsed_url: ['https', 'example.org', `/${i}`, '', '', ''],
      template: 'default.html',
    }));
    const rest = { answers: [], corrections: [], infoboxes: [], suggestions: [], unresponsive_engines: [] };
    return { status: 200, json: { query, number_of_results: 0, results, ...rest } };
  });
}

export function startBrave(): Promise<EngineDouble> {
  return start(({ headers }, asked) => {
    if (asked.pathname !== '/res/v1/web/search') return { status: 404, json: null };
    if (headers['x-subscription-token'] !== BRAVE_KEY) {
      return braveError(422, 'SUBSCRIPTION_TOKEN_INVALID', 'The provided subscription token is invalid.');
    }
    const [query, count] = [asked.searchParams.get('q'), Number(asked.searchParams.get('count'))];
    const results = Array.from({ length: count }, (_none, i) => ({
      type: 'search_result',
      title: `Brave ${i}`,
      url: `https://example.com/${i}`,
      is_source_local: false,
      description: `About <strong>${query}</strong> &amp; more`,
      language: 'en',
      family_friendly: true,
    }));
    const shown = query === 'nothing' ? {} : { web: { type: 'search', results, family_friendly: true } };
    return {
      status: 200,
      json: { type: 'search', query: { original: query, more_results_available: true }, ...shown },
    };
  });
}

export function braveError(status: number, code: string, detail: string): EngineAnswer {
  return { status, json: { type: 'ErrorResponse', error: { id: 'e1', status, code, detail, meta: {} }, time: 1 } };
}

async function start(usual: (request: IncomingMessage, asked: URL) => EngineAnswer): Promise<EngineDouble> {
  const asked: URL[] = [];
  const script: EngineAnswer[] = [];
  const server = createServer((request, reply) => {
    const url = new URL(request.url ?? '/', 'http://engine');
    asked.push(url);
    const said = script.shift() ?? usual(request, url);
    if (said === 'hang') return;
    if (said === 'reset') return void request.socket.destroy();
    if (said === 'html') return void reply.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Search</h1>');
    reply.writeHead(said.status, { 'content-type': 'application/json' }).end(JSON.stringify(said.json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, script, stop: () => stopped(server) };
}

function stopped(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
