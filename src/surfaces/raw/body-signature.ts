// Requests signed with the hash of their body. The named principal, and whether it may send a body of that length, are checked before the
// body is read. The hash is computed as the body arrives; only then is the sender verified.
import type { FastifyRequest } from 'fastify';
import { admission } from '../../core/admission.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { scopesAllow } from '../../core/callers/scopes.ts';
import type { Credential } from '../../core/credentials/credential.ts';
import { authorize } from '../../gateway/authorize.ts';
import { isShort } from '../../gateway/bulk/readers.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { identify } from '../../gateway/identify.ts';
import type { RawHead, RawRoute } from '../../kit/raw-route.ts';
import { networkOf } from '../../lib/network-of.ts';
import { problem } from '../../problems/problem.ts';
import type { Signing } from '../rest/call-slot.ts';

/** Whose share a body takes until its signature is known to be right: one of its own for each account that is named. */
export function unprovenOwner({ accountId }: Principal): string {
  return `unproven ${accountId}`;
}

/**
 * What the body is to complete, and whom it names; null: a key that has ended. Throws UNAUTHORIZED, INVALID_API_KEY, RATE_LIMITED for what
 * is wrong whatever the body is, and refuses a long body as `admitLong`.
 */
export async function beginSigning(
  gateway: Gateway,
  route: RawRoute,
  head: RawHead,
): Promise<{ readonly signing: Signing; readonly named: Principal | null }> {
  const credential = route.bodyCredentialOf?.(head) ?? null;
  const named = credential === null ? null : await credential.identifyKey(gateway.core);
  if (credential === null || named === null) return refuse(gateway, null, head);
  if (typeof named === 'string') return refuse(gateway, { find: async () => named }, head);
  const guesser = `${networkOf(head.remoteAddress)} ${named.keyId}`;
  if (!isShort(bytesOf(head))) {
    const retryAfterMs = gateway.wrongSignatures.waitMs(guesser);
    if (retryAfterMs > 0) {
      const message =
        'Too many requests with a wrong signature came from this address: long bodies of this key are not read for now.';
      throw problem('RATE_LIMITED', { message, retryAfterMs });
    }
  }
  admitLong(gateway, route, head, named.principal);
  return { signing: { credential, guesser }, named: named.principal };
}

async function refuse(gateway: Gateway, credential: Credential | null, head: RawHead): Promise<never> {
  await identify(gateway, credential, head.remoteAddress);
  throw new Error('a credential that stands for nobody was let in');
}

/** Throws INSUFFICIENT_SCOPE, ACCOUNT_SUSPENDED, PAYLOAD_TOO_LARGE for a body that is too long for what the principal may call. */
export function admitLong(gateway: Gateway, route: RawRoute, head: RawHead, principal: Principal | null): void {
  if (route.longBodyFor === undefined || isShort(bytesOf(head))) return;
  const endpoints = route.longBodyFor(head).map((id) => gateway.endpoints.get(id));
  const [first] = endpoints;
  if (first === undefined) {
    const message = `The body may have at most ${admission.call.readHereBytesMax} bytes.`;
    throw problem('PAYLOAD_TOO_LARGE', { message });
  }
  if (principal === null) return;
  const allowed = endpoints.find(
    (each) => each !== undefined && scopesAllow(principal.scopes, each.capability.id, each.capability.scope),
  );
  authorize({ principal, endpoint: allowed ?? first });
}

/** The principal, now that the body is there. Throws INVALID_API_KEY, RATE_LIMITED. */
export async function endSigning(gateway: Gateway, { credential, guesser }: Signing, request: FastifyRequest) {
  const found = await credential.complete().find(gateway.core);
  if (found === 'signature') gateway.wrongSignatures.fail(guesser);
  return identify(gateway, { find: async () => found }, request.ip);
}

/** NaN: it is not announced. */
function bytesOf({ headers }: RawHead): number {
  if (headers['transfer-encoding'] !== undefined) return Number.NaN;
  return Number(headers['content-length'] ?? 0);
}
