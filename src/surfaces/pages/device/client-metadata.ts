// Who an OAuth client is. By its metadata document (OAuth Client ID Metadata Document): the client id is the document's URL; it states the
// client's name and its redirect URIs, and is read for each page, never cached. Or by its registration, which the client id holds.
import type { Services } from '../../../kit/services.ts';
import { isLoopback } from '../../../lib/loopback.ts';
import { readClientName } from '../../../people/devices/codes.ts';
import { isSameRedirect, mayBeRedirect } from './redirects.ts';
import { isRegistered, openRegistration } from './registration.ts';

const DOCUMENT_BYTES_MAX = 64 * 1024;
const ADDRESS_CHARACTERS_MAX = 2_000;
const limits = { firstByteMs: 5_000, idleMs: 5_000, totalMs: 8_000, answerBytesMax: DOCUMENT_BYTES_MAX };
const NOT_OF_CLIENT = 'redirect_uri is none of those of the client.';

export interface OauthClient {
  readonly id: string;
  /** As the client says; nobody has verified it. */
  readonly name: string;
  /** Where its document is; null: it registered itself. */
  readonly host: string | null;
}

/** The client, when it may have people sent to the address; else in one sentence why not. */
export async function readClient(
  { outbound, baseUrl, secrets }: Pick<Services, 'outbound' | 'baseUrl' | 'secrets'>,
  clientId: string | null,
  redirectUri: string | null,
  signal: AbortSignal,
): Promise<OauthClient | string> {
  if (redirectUri === null || !mayBeRedirect(redirectUri))
    return 'redirect_uri must be an https address, one of this machine, or one of a program.';
  if (clientId !== null && isRegistered(clientId)) return registeredClient(secrets, clientId, redirectUri);
  const address = clientAddress(clientId, baseUrl);
  if (address === null)
    return 'client_id must be the https address of a client metadata document, or an id of /oauth/register.';
  const document = await readDocument(outbound, address.href, signal);
  if (document === null) return 'The client metadata document could not be read.';
  const { client_id, client_name, redirect_uris } = document;
  if (client_id !== clientId) return 'The client metadata document is another client’s.';
  const allowed = Array.isArray(redirect_uris) && redirect_uris.some((each) => isSameRedirect(each, redirectUri));
  if (!allowed) return NOT_OF_CLIENT;
  const name = typeof client_name === 'string' ? readClientName(client_name) : null;
  return { id: address.href, name: name ?? address.host, host: address.host };
}

function registeredClient(secrets: Services['secrets'], clientId: string, redirectUri: string): OauthClient | string {
  const registration = openRegistration(secrets, clientId);
  if (registration === null) return 'This client is not registered here. Register it again at /oauth/register.';
  const { name, redirectUris } = registration;
  if (!redirectUris.some((each) => isSameRedirect(each, redirectUri))) return NOT_OF_CLIENT;
  return { id: clientId, name: name ?? 'A program without a name', host: null };
}

function clientAddress(clientId: string | null, baseUrl: string): URL | null {
  if (clientId === null || clientId.length > ADDRESS_CHARACTERS_MAX) return null;
  const url = URL.parse(clientId);
  if (url === null || url.href !== clientId || url.hash !== '' || url.username !== '' || url.pathname === '/')
    return null;
  const isOwnMachine = url.protocol === 'http:' && isLoopback(url.hostname) && isLoopback(new URL(baseUrl).hostname);
  return url.protocol === 'https:' || isOwnMachine ? url : null;
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
