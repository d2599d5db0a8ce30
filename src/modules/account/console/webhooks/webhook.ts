// Shared parts of the webhook pages: types from the capabilities, status badge, form fields and the page of the signing secret.

import { copiedSecret } from '../../../../kit/console/copied.ts';
import { eventPicker } from '../../../../kit/console/event-picker.ts';
import { field } from '../../../../kit/console/form.ts';
import { badge } from '../../../../kit/console/table.ts';
import { countOf } from '../../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import type { webhooksGet } from '../../capabilities/webhooks/get.ts';

export type Webhook = DataOf<typeof webhooksGet>;

export function webhookPath(id: string): string {
  return `/webhooks/${encodeURIComponent(id)}`;
}

const REASONS: Readonly<Record<string, string>> = {
  requested: 'disabled',
  gone: 'disabled: the receiver answered 410',
  failing: 'disabled: it failed for days',
};

export function standing(webhook: Webhook): Html {
  const kind = isBroken(webhook) || isFailing(webhook) ? 'critical' : webhook.status === 'enabled' ? 'good' : 'plain';
  return badge(standingText(webhook), kind);
}

export function standingText(webhook: Webhook): string {
  if (webhook.status === 'disabled') return REASONS[webhook.disabled_reason ?? ''] ?? 'disabled';
  return isFailing(webhook)
    ? `failing: ${countOf(webhook.failed_attempts, 'attempt')} since the last success`
    : 'enabled';
}

/** It is on, and its last attempt failed. */
function isFailing({ status, failing_since: since }: Webhook): boolean {
  return status === 'enabled' && since !== null;
}

/** It is off, and not because somebody wanted it so. */
export function isBroken({ status, disabled_reason: reason }: Webhook): boolean {
  return status === 'disabled' && reason !== 'requested';
}

/** Address, events and note, as register and update take them. */
export function webhookFields(visit: Visit, act: string, webhook?: Webhook): Html {
  return html`${field(visit, act, { name: 'url', label: 'URL', value: webhook?.url ?? '', isRequired: true, attributes: html`inputmode="url" spellcheck="false" placeholder="https://example.org/hooks"` })}
${eventPicker(visit, act, webhook?.events ?? [])}
${field(visit, act, { name: 'description', label: 'Description', value: webhook?.description ?? '' })}
${field(visit, act, { name: 'timeout_seconds', label: 'Timeout (s)', value: String(webhook?.timeout_seconds ?? 15), hint: 'How long an answer may take, 1 to 900.', attributes: html`inputmode="numeric"` })}`;
}

/** What is shown once, when it is made. */
export function secretShown(
  visit: Visit,
  { webhook_id: id, url, secret }: Webhook & { readonly secret?: string },
): Html {
  return html`<h1>Signing secret</h1>
<p>Copy it now: it is shown only once. Events sent to ${url} are signed with it.</p>
${copiedSecret(secret ?? '')}
<p><a href="${visit.path(webhookPath(id))}">Open the webhook</a></p>`;
}
