// A site of the outside world on this machine, at an address of its own that test services may reach: what examples name as https://example.org
// is asked of it.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** In ALLOW_PRIVATE_SOURCES of services that read it. */
export const SITE_NETWORK = '127.77.0.0/16';
const SITE_HOST = '127.77.0.1';

export interface Site {
  readonly url: string;
  /** Paths that were asked for, with the query. */
  readonly asked: string[];
  stop(): Promise<void>;
}

type Page = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** Pages by path; HTML where they are texts. What is not there is 404. `host`: another address of the network is another host. */
export async function startSite(pages: Readonly<Record<string, Page>>, host = SITE_HOST): Promise<Site> {
  const asked: string[] = [];
  const server = await listening((request, response) => {
    const path = request.url ?? '/';
    asked.push(path);
    const page = pages[path] ?? pages[path.split('?')[0] as string];
    if (typeof page === 'function') page(request, response);
    else if (page === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  }, host);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    asked,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function listening(listener: RequestListener, host: string): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  // It ends with the worker where nobody stops it.
  server.unref();
  return server;
}

/** What examples read. */
export const EXAMPLE_SITE = 'https://docs.example.org';
const home = `<!doctype html><html lang="en"><head><title>Keys</title></head><body><nav><a href="/">Home</a></nav><main><h1>Keys</h1>
<p>A key is shown once, when it is created. Keep it in a secret store, and rotate it every ninety days.</p>
<p>A key that was revoked ends at once, on every process. <a href="/limits">Limits</a> are told by tier.</p></main></body></html>`;

let example: Promise<Site> | null = null;

/** One for all tests of a worker, which nothing waits for at its end. */
export function exampleSite(): Promise<Site> {
  example ??= startSite({ '/': home, '/keys': home, '/limits': home.replaceAll('Keys', 'Limits') });
  return example;
}
