// What ends a key at once: it is revoked, or has leaked. The pages say what used it last, in numbers, and ask for its id.

import { checkbox } from '../../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../../kit/console/page.ts';
import { lastDays } from '../../../../kit/console/period.ts';
import { ago, count, countOf, money, short } from '../../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../../kit/console/typed.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { keysRevoke } from '../../capabilities/keys/revoke.ts';
import { keysSuspectedCompromise } from '../../capabilities/keys/suspected-compromise.ts';
import { usage } from '../../capabilities/usage.ts';
import { findKey, type Key } from './key.ts';
import { secretPage } from './keys.ts';

const LEAKED = 'leaked';

const leaked: Act = {
  capability: keysSuspectedCompromise,
  input(form, { params: { id = '' } }) {
    requireTyped(form, id, 'end the key');
    return { id, confirmed_leak: true, auto_rotate: form.has('auto_rotate') };
  },
  done: 'Leak reported.',
  answerView: leakReported,
};

/** Its next call is refused, and a new key may take its place. */
export const leakedPage: ConsolePage = {
  name: 'key_leaked',
  path: '/keys/{id}/leaked',
  needs: keysSuspectedCompromise,
  show: showLeaked,
  acts: { [LEAKED]: leaked },
};

export const revokePage: ConsolePage = {
  name: 'key_revoke',
  path: '/keys/{id}/revoke',
  needs: keysRevoke,
  show: showRevoke,
  acts: {
    revoke: {
      capability: keysRevoke,
      input(form, { params: { id = '' } }) {
        requireTyped(form, id, 'revoke the key');
        return { id };
      },
      done: 'Key revoked. Its next call is refused.',
      next: () => '/keys',
    },
  },
};

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

async function showRevoke(visit: Visit): Promise<View> {
  const key = await findKey(visit);
  const content = html`${back(visit, key)}
<h1>Revoke ${short(key.name ?? key.id, 100)}</h1>
${await revocationEffect(visit, key)}
${typedForm(visit, 'revoke', { wanted: key.id, button: 'Revoke key' })}`;
  return { title: 'Revoke a key', content };
}

async function showLeaked(visit: Visit): Promise<View> {
  const key = await findKey(visit);
  const anew = 'Create a new key in its place, with the same access, expiry and cap';
  const content = html`${back(visit, key)}
<h1>Report a leak of ${short(key.name ?? key.id, 100)}</h1>
${await revocationEffect(visit, key)}
${typedForm(visit, LEAKED, {
  wanted: key.id,
  button: 'End key',
  after: checkbox(visit, LEAKED, { name: 'auto_rotate', label: anew, isChecked: true }),
})}`;
  return { title: 'Report a leak', content };
}

/** Who still uses it is cut off: the calls of a day say how many that may be. */
async function revocationEffect(visit: Visit, { id, last_used_at: last }: Key): Promise<Html> {
  const day = await visit.need(usage, { ...lastDays(visit, 1), key_id: id });
  return html`<p>Its next call is refused, and it can never be used again. In the last 24 hours it made ${countOf(day.request_count, 'call')} (${count(day.error_count)} failed) for ${money(day.spend_usd)}. It was last used ${ago(visit, last)}.</p>`;
}

function back(visit: Visit, { id }: Key): Html {
  return html`<p><a href="${visit.path(`/keys/${id}`)}">Back</a></p>`;
}
