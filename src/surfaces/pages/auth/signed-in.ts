// Last step of every way to sign in: a new session replaces the browser's old one, and the browser goes to the requested page.
import { clockNow } from '../../../core/database-clock.ts';
import type { RawAnswer, RawHead } from '../../../kit/raw-route.ts';
import { endSession, openSession, type SessionOwner } from '../../../people/sessions/sessions.ts';
import { openingCookie } from '../session-cookie.ts';
import { localPath, pathTo, redirect, type VisitorServices, visitorOf } from '../visitor.ts';

/** Opens the session. `returnTo`: a path as somebody sent it; what leads elsewhere is left out. */
export async function signedIn(
  core: VisitorServices,
  request: Pick<RawHead, 'headers' | 'remoteAddress'>,
  owner: SessionOwner,
  returnTo: string | null,
): Promise<RawAnswer> {
  const before = await visitorOf(core, request);
  const device = { remoteAddress: request.remoteAddress, agent: request.headers['user-agent'] };
  const token = await core.db.transaction(async (tx) => {
    if (before !== null) await endSession(tx, before.session.sessionId);
    return openSession(tx, owner, device, await clockNow(tx));
  });
  return redirect(localPath(returnTo) ?? pathTo(core, '/auth/account'), {
    'set-cookie': openingCookie(core.baseUrl, token),
  });
}
