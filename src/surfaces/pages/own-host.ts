// Restricts pages to the host of BASE_URL and, on this machine, to its loopback names and addresses. Under any other name, an attacker whose
// name resolves to this server could show them. The API, /metrics, /healthz and documents answer to every name.
import ipaddr from 'ipaddr.js';
import type { RawHead, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { html } from '../../lib/html.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { message } from './message.ts';

/**
 * Whether a page may answer to the name that the request was sent to. A proxy passes that name on as Host, or tells it as
 * X-Forwarded-Host, which no page of a browser can send to another site unasked.
 */
export function isOwnHost({ headers }: Pick<RawHead, 'headers'>, baseUrl: string): boolean {
  const own = new URL(baseUrl).hostname;
  // Only HTTP/1.0 has none.
  const name = headers.host === undefined ? own : hostnameOf(headers.host);
  if (name === own || (name !== null && isLoopback(name))) return true;
  const forwarded = headers['x-forwarded-host'];
  if (typeof forwarded === 'string' && hostnameOf(forwarded) === own) return true;
  // Without BASE_URL its addresses are its names; nobody makes an address lead elsewhere.
  return name !== null && (isLoopback(own) || isUnspecified(own)) && isAddress(name);
}

/** The route, under its own names only: 421 else. */
export function withOwnHost(services: () => Services, route: RawRoute): RawRoute {
  return {
    ...route,
    answer: async (request, state) => {
      const { baseUrl } = services();
      if (isOwnHost(request, baseUrl)) return route.answer(request, state);
      const own = html`<p>Pages of this service are at <a href="${baseUrl}">${baseUrl}</a>. Whoever runs it sets the address as BASE_URL.</p>`;
      return message(421, 'This page is at another address', own);
    },
  };
}

function hostnameOf(host: string): string | null {
  return URL.parse(`http://${host}`)?.hostname ?? null;
}

function isAddress(name: string): boolean {
  return ipaddr.isValid(name.replace(/^\[|\]$/g, ''));
}

function isUnspecified(name: string): boolean {
  const address = name.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'unspecified';
}
