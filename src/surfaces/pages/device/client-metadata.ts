// An OAuth client's metadata document (OAuth Client ID Metadata Document). The client id is the document's URL; it states the client's name
// and its redirect URIs. It is read for each page, and never cached.
import type { Services } from '../../../kit/services.ts';
import { isLoopback } from '../../../lib/loopback.ts';
import { readClientName } from '../../../people/devices/codes.ts';

const DOCUMENT_BYTES_MAX = 64 * 1024;
const ADDRESS_CHARACTERS_MAX = 2_000;
const limits = { firstByteMs: 5_000, idleMs: 5_000, totalMs: 8_000, answerBytesMax: DOCUMENT_BYTES_MAX };
/** Addresses of these are programs or files of the browser. */
const FORBIDDEN_SCHEME = /^(?:javascript|data|vbscript|file|blob|about|filesystem|view-source|ws|wss|ftp):$/;

export interface OauthClient {
  readonly id: string;
  /** As the document says; nobody has verified it. */
  readonly name: string;
  readonly host: string;
}

/** The client, when its document allows the redirect; else in one sentence why not. */
export async function readClient(
  { outbound, baseUrl }: Pick<Services, 'outbound' | 'baseUrl'>,
  clientId: string | null,
  redirectUri: string | null,
  signal: AbortSignal,
): Promise<OauthClient | string> {
  const address = clientAddress(clientId, baseUrl);
  if (address === null) return 'client_id must be the https address of a client metadata document.';
  if (redirectUri === null || !mayBeRedirect(redirectUri))
    return 'redirect_uri must be an https address, one of this machine, or one of a program.';
  const document = await readDocument(outbound, address.href, signal);
  if (document === null) return 'The client metadata document could not be read.';
  const { client_id, client_name, redirect_uris } = document;
  if (client_id !== clientId) return 'The client metadata document is another client’s.';
  const allowed = Array.isArray(redirect_uris) && redirect_uris.some((each) => isSameRedirect(each, redirectUri));
  if (!allowed) return 'redirect_uri is none of those of the client.';
  const name = typeof client_name === 'string' ? readClientName(client_name) : null;
  return { id: address.href, name: name ?? address.host, host: address.host };
}

function clientAddress(clientId: string | null, baseUrl: string): URL | null {
  if (clientId === null || clientId.length > ADDRESS_CHARACTERS_MAX) return null;
  const url = URL.parse(clientId);
  if (url === null || url.href !== clientId || url.hash !== '' || url.username !== '' || url.pathname === '/')
    return null;
  const isOwnMachine = url.protocol === 'http:' && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
  return url.protocol === 'https:' || isOwnMachine ? url : null;
}

function mayBeRedirect(uri: string): boolean {
  const url = uri.length > ADDRESS_CHARACTERS_MAX ? null : URL.parse(uri);
  if (url === null || url.hash !== '' || url.username !== '' || FORBIDDEN_SCHEME.test(url.protocol)) return false;
  return url.protocol !== 'http:' || isLoopback(url.hostname);
}

/** The same, but for the port of a program on the person's own machine (RFC 8252, section 7.3). */
function isSameRedirect(registered: unknown, sent: string): boolean {
  if (registered === sent) return true;
  if (typeof registered !== 'string') return false;
  const [one, other] = [URL.parse(registered), URL.parse(sent)];
  if (one?.protocol !== 'http:' || other?.protocol !== 'http:' || !isLoopback(one.hostname)) return false;
  return one.hostname === other.hostname && one.pathname === other.pathname && one.search === other.search;
}

async function readDocument(outbound: Services['outbound'], url: string, signal: AbortSignal) {
  const reply = await outbound.send({ url, method: 'GET', headers: { accept: 'application/json' }, limits, signal });
  if (reply.kind !== 'answered') return null;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of reply.body) chunks.push(chunk as Buffer);
    const document: unknown = reply.status === 200 ? JSON.parse(Buffer.concat(chunks).toString('utf8')) : null;
    return document !== null && typeof document === 'object' ? (document as Record<string, unknown>) : null;
  } catch {
    // Broken off, too long, or no JSON: all of it is "could not be read".
    return null;
  }
}
