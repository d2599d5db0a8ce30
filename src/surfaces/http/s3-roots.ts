// S3 at the root of an address, for clients that cannot use a path: a port (S3_PORT), or a host (S3_DOMAIN) with an optional bucket
// subdomain. Requests to it are routed below /s3; their signature covers the original path.
import type { IncomingMessage } from 'node:http';
import type { S3Addresses } from '../../config/s3.ts';

const PREFIX = '/s3';

/** Path and query that a request is routed by; undefined: where there is no such address. */
export function s3Roots({ port, domain }: S3Addresses): ((request: IncomingMessage) => string) | undefined {
  if (port === null && domain === null) return undefined;
  return (request) => {
    const { url = '', socket } = request;
    if (!url.startsWith('/')) return url;
    const bucket = domain === null ? null : bucketBefore(domain, request.headers.host ?? '');
    if (bucket !== null) return PREFIX + bucket + url;
    return port !== null && socket.localPort === port ? PREFIX + url : url;
  };
}

/** `/name` where one stands before the domain, empty where none does; null: it is another host. */
function bucketBefore(domain: string, sent: string): string | null {
  const host = sent.replace(/:\d*$/, '').toLowerCase();
  if (host === domain) return '';
  return host.endsWith(`.${domain}`) ? `/${encodeURIComponent(host.slice(0, -domain.length - 1))}` : null;
}
