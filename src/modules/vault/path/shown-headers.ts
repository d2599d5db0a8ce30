// Headers of a target's answer that reach the client of this service: none that speaks to a browser about the origin, which is ours.
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
  readonly baseUrl: string;
  /** The name by which the client has this service. */
  readonly ownHost: string | undefined;
}

/** `at`: a client that follows a redirect goes to the target with it, and never with its key to another call of this service. */
export function shownHeaders(
  headers: Readonly<Record<string, string | readonly string[]>>,
  at: ShownAt,
): Record<string, string | readonly string[]> {
  const shown = Object.entries(headers).filter(
    ([name]) => !LEFT_OUT.has(name) && !LEFT_OUT_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  const { location: _, ...others } = Object.fromEntries(shown);
  const location = headers.location === undefined ? null : locationAt(String(headers.location), at);
  return location === null ? others : { ...others, location };
}

/** Null: it leads here. */
function locationAt(location: string, { target, baseUrl, ownHost }: ShownAt): string | null {
  const { secure, host, port, sentPath } = target;
  const name = host.includes(':') ? `[${host}]` : host;
  const url = URL.parse(location, `${secure ? 'https' : 'http'}://${name}:${port}${sentPath}`);
  const isOurs = url === null || url.host === URL.parse(baseUrl)?.host || url.host === ownHost?.toLowerCase();
  return isOurs ? null : url.href;
}
