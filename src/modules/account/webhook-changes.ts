// Changes of webhook registrations: register, change, delete. They run under the account's lock. URLs are checked before it is taken, because
// the check resolves host names.
import { findAccount } from '../../core/accounts/accounts.ts';
import { tierLimits } from '../../core/callers/tiers.ts';
import type { Transaction } from '../../db/database.ts';
import { requireRow } from '../../kit/resource.ts';
import type { CallContext, Services } from '../../kit/services.ts';
import { newId } from '../../lib/ids.ts';
import { nearest } from '../../lib/nearest.ts';
import { DAY_MS } from '../../lib/time.ts';
import { endDeliveries } from '../../webhooks/deliveries/store.ts';
import {
  clearFailures,
  countRegistrations,
  deleteRegistration,
  disableRegistration,
  enableRegistration,
  insertRegistration,
  type Registration,
  type RegistrationSettings,
  readTargets,
  replaceSigningSecret,
  type SigningSecret,
  saveSettings,
  type WebhookStatus,
} from '../../webhooks/registrations/store.ts';
import { problem } from './problems.ts';
import { webhooks } from './webhook-resource.ts';

const TYPE_CHARACTERS_SHOWN = 80;

/** Fields of an update; what is undefined stays as it is. */
export interface WebhookPatch extends Partial<RegistrationSettings> {
  readonly signing?: SigningSecret;
  readonly status?: WebhookStatus;
}

/** The event types without repetition, in the order sent; a planned one is taken with a warning. Throws UNKNOWN_EVENT_TYPE for the first unknown one. */
export function subscribedEvents({ core, warnings }: CallContext, types: readonly string[]): string[] {
  for (const [i, type] of types.entries()) requireEventType(core, type, `events[${i}]`);
  const subscribed = [...new Set(types)];
  const planned = subscribed.filter((type) => core.eventTypes.get(type) === 'planned');
  if (planned.length > 0) warnings.push(`events: ${planned.join(', ')}: planned, and not sent by this service yet.`);
  return subscribed;
}

/** Throws UNKNOWN_EVENT_TYPE, which names the types that are near. */
export function requireEventType({ eventTypes }: Services, type: string, param: string): void {
  if (eventTypes.has(type)) return;
  const near = nearest(type, [...eventTypes.keys()], 3);
  const hint = near.length === 0 ? 'GET /docs/events lists them.' : `Did you mean ${near.join(' or ')}?`;
  const message = `${JSON.stringify(type.slice(0, TYPE_CHARACTERS_SHOWN).toWellFormed())} is no event type. ${hint}`;
  throw problem('UNKNOWN_EVENT_TYPE', { param, message });
}

/** Resolves the host of the URL, so never in a transaction. Throws WEBHOOK_URL_REJECTED. */
export async function checkUrl(ctx: CallContext, url: string): Promise<void> {
  const warning = await ctx.core.outbound.checkUrl(url, 'url');
  if (warning !== null) ctx.warnings.push(warning);
}

/** Throws QUOTA_EXCEEDED at the tier's number of registrations, disabled ones included. */
export async function registerWebhook(
  tx: Transaction,
  ctx: CallContext,
  settings: RegistrationSettings,
  signing: SigningSecret,
  nowMs: number,
): Promise<Registration> {
  const [account, count] = await Promise.all([findAccount(tx, ctx.accountId), countRegistrations(tx, ctx.accountId)]);
  const tier = account?.tier ?? ctx.tier;
  const { webhooksMax } = tierLimits[tier];
  if (count >= webhooksMax) {
    const message = `The account has ${count} webhooks; its tier ${tier} allows ${webhooksMax}.`;
    throw problem('QUOTA_EXCEEDED', { message, detail: 'webhooks' });
  }
  const webhookId = newId('wh_');
  await insertRegistration(tx, ctx.core.secrets, ctx.accountId, { ...settings, webhookId, signing }, nowMs);
  return requireRow(webhooks, tx, ctx, webhookId);
}

/** Throws WEBHOOK_NOT_FOUND. */
export async function changeWebhook(
  tx: Transaction,
  ctx: CallContext,
  webhookId: string,
  { signing, status, ...settings }: WebhookPatch,
  nowMs: number,
): Promise<Registration> {
  const { accountId } = ctx;
  const { secrets } = ctx.core;
  const before = await requireRow(webhooks, tx, ctx, webhookId);
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  const after: RegistrationSettings = { ...before, ...given };
  await saveSettings(tx, secrets, accountId, webhookId, after, nowMs);
  if (after.url !== before.url) await clearFailures(tx, accountId, webhookId);
  if (signing !== undefined) await changeSecret(tx, ctx, webhookId, signing, nowMs);
  if (status === 'enabled') await enableRegistration(tx, accountId, webhookId);
  if (status === 'disabled' && (await disableRegistration(tx, accountId, webhookId, 'requested', nowMs))) {
    await endDeliveries(tx, accountId, webhookId, 'skipped', nowMs);
  }
  return requireRow(webhooks, tx, ctx, webhookId);
}

/** Answers whether there was such a registration; what was pending for it is cancelled. */
export async function removeWebhook(tx: Transaction, accountId: string, webhookId: string, nowMs: number) {
  const deleted = await deleteRegistration(tx, accountId, webhookId);
  if (deleted) await endDeliveries(tx, accountId, webhookId, 'cancelled', nowMs);
  return deleted;
}

/** Setting the current secret again changes nothing: the one before would else end before its day is over. */
async function changeSecret(
  tx: Transaction,
  ctx: CallContext,
  webhookId: string,
  signing: SigningSecret,
  nowMs: number,
): Promise<void> {
  const [target] = await readTargets(tx, ctx.core.secrets, ctx.accountId, [webhookId]);
  if (target?.signingSecrets[0] === signing.secret) return;
  await replaceSigningSecret(tx, ctx.core.secrets, ctx.accountId, webhookId, signing, nowMs + DAY_MS);
}
