// Plain HTTP at TLS_REDIRECT_PORT: every request is redirected to the public address, whatever host it names.
import { createServer, type Server } from 'node:http';

const PERMANENT = 308;
const BOUNDS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 5_000,
  requestTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
};
const CONNECTIONS_MAX = 1_000;

export function createRedirect(baseUrl: string): Server {
  const { origin } = new URL(baseUrl);
  const server = createServer(BOUNDS, ({ url = '/' }, response) => {
    const location = origin + (url.startsWith('/') ? url : '/');
    response.writeHead(PERMANENT, { location, connection: 'close', 'content-length': 0 }).end();
  });
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}
