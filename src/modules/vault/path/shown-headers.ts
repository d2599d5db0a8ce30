// Headers of a target's answer that reach the client of this service: none that speaks to a browser about the origin, which is ours.
import { BY_PATH } from '../limits.ts';
import type { RequestTarget } from '../rule/target.ts';

const LEFT_OUT = new Set(
  [
    'set-cookie set-cookie2 content-security-policy content-security-policy-report-only strict-transport-security public-key-pins clear-site-data',
    'service-worker-allowed alt-svc nel report-to reporting-endpoints origin-agent-cluster refresh x-qm-code',
  ].flatMap((names) => names.split(' ')),
);
const LEFT_OUT_PREFIXES = ['access-control-', 'cross-origin-'];

export interface ShownAt {
  readonly target: RequestTarget;
  readonly connection: string;
  readonly baseUrl: string;
  /** The name by which the client has this service. */
  readonly ownHost: string | undefined;
}

/**
 * `at`: a client that follows a redirect goes to the target with it, and never with its key to another call of this service. Links (RFC 8288)
 * are followed with the key, as next pages: those to the target lead by path.
 */
export function shownHeaders(
  headers: Readonly<Record<string, string | readonly string[]>>,
  at: ShownAt,
): Record<string, string | readonly string[]> {
  const shown = Object.entries(headers).filter(
    ([name]) => !LEFT_OUT.has(name) && !LEFT_OUT_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  const { location: _, link, ...others } = Object.fromEntries(shown);
  const location = headers.location === undefined ? null : locationAt(String(headers.location), at);
  return {
    ...others,
    ...(location !== null && { location }),
    ...(link !== undefined && { link: linksAt(String(link), at) }),
  };
}

function linksAt(links: string, { target, connection, baseUrl }: ShownAt): string {
  return links.replace(/<([^<>]*)>/g, (link, address: string) => {
    const url = URL.parse(address, addressOf(target));
    return url !== null && url.origin === new URL(addressOf(target)).origin
      ? `<${baseUrl}${BY_PATH}${connection}${url.pathname}${url.search}>`
      : link;
  });
}

/** Null: it leads here. */
function locationAt(location: string, { target, baseUrl, ownHost }: ShownAt): string | null {
  const url = URL.parse(location, addressOf(target));
  const isOurs = url === null || url.host === URL.parse(baseUrl)?.host || url.host === ownHost?.toLowerCase();
  return isOurs ? null : url.href;
}

function addressOf({ secure, host, port, sentPath }: RequestTarget): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${secure ? 'https' : 'http'}://${name}:${port}${sentPath}`;
}
