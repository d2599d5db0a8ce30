// Addresses whose root is that of S3, for clients that can have no path: a port (S3_PORT), and a host (S3_DOMAIN) before which a bucket may
// stand. What is sent there is routed below /s3; its signature is of what was sent.
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
