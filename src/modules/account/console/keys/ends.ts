// Pages that end a key at once: revocation, and report of a leak. They state the key's last use and recent calls, and require its name or id.

import { checkbox } from '../../../../kit/console/form.ts';
import type { View } from '../../../../kit/console/page.ts';
import { lastDays } from '../../../../kit/console/period.ts';
import { ago, count, countOf, money, short } from '../../../../kit/console/text.ts';
import { typedPage } from '../../../../kit/console/typed.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { html } from '../../../../lib/html.ts';
import { keysRevoke } from '../../capabilities/keys/revoke.ts';
import { keysSuspectedCompromise } from '../../capabilities/keys/suspected-compromise.ts';
import { usage } from '../../capabilities/usage.ts';
import { findKey, type Key } from './key.ts';
import { secretPage } from './keys.ts';

const LEAKED = 'leaked';

/** Its next call is refused, and a new key may take its place. */
export const leakedPage = typedPage({
  name: 'key_leaked',
  path: '/keys/{id}/leaked',
  capability: keysSuspectedCompromise,
  act: LEAKED,
  what: 'end the key',
  button: 'End key',
  title: 'Report a leak',
  nameOf: keyName,
  async about(visit) {
    const label = 'Create a new key in its place, with the same access, expiry and cap';
    const after = checkbox(visit, LEAKED, { name: 'auto_rotate', label, isChecked: true });
    return { ...(await aboutEnd(visit, 'Report a leak of')), after };
  },
  input: (form, { params }) => ({ key_id: params.id, confirmed_leak: true, auto_rotate: form.has('auto_rotate') }),
  done: 'Leak reported.',
  answerView: leakReported,
});

export const revokePage = typedPage({
  name: 'key_revoke',
  path: '/keys/{id}/revoke',
  capability: keysRevoke,
  act: 'revoke',
  what: 'revoke the key',
  button: 'Revoke key',
  title: 'Revoke a key',
  nameOf: keyName,
  about: (visit) => aboutEnd(visit, 'Revoke'),
  done: 'Key revoked. Its next call is refused.',
  next: () => '/keys',
});

/** What a report of a leak answers: a new secret where one was made, shown this once. */
export function leakReported(data: unknown, visit: Visit): View {
  const { key, replacement } = data as {
    readonly key: Key & { readonly key_secret?: string };
    readonly replacement: (Key & { readonly key_secret: string }) | null;
  };
  if (replacement !== null) return secretPage(replacement, visit);
  if (key.key_secret !== undefined) return secretPage({ ...key, key_secret: key.key_secret }, visit);
  const content = html`<h1>Leak reported</h1><p>Key status: ${key.status}. <a href="${visit.path('/keys')}">All keys</a></p>`;
  return { title: 'Leak reported', content };
}

async function keyName(visit: Visit): Promise<string | null> {
  return (await findKey(visit)).name;
}

/** Who still uses it is cut off: the calls of a day say how many that may be. */
async function aboutEnd(visit: Visit, what: string) {
  const { key_id: id, name, last_used_at: last } = await findKey(visit);
  const day = await visit.need(usage, { ...lastDays(visit, 1), key_id: id });
  return {
    back: { label: 'Back', path: `/keys/${id}` },
    heading: html`${what} ${short(name ?? id, 100)}`,
    text: html`Its next call is refused, and it can never be used again. In the last 24 hours it made ${countOf(day.request_count, 'call')} (${count(day.error_count)} failed) for ${money(day.spend_usd)}. It was last used ${ago(visit, last)}.`,
  };
}
