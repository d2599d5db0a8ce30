// Whom a rule tells. Addresses of Slack hold a secret: they are kept encrypted with account and rule, and answers show them masked.
import { scopesAllow } from '../../../core/callers/scopes.ts';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import type { Queryable } from '../../../db/database.ts';
import type { CallContext } from '../../../kit/services.ts';
import { mailAddress } from '../../../people/addresses.ts';
import { membersOf, ownerAddresses } from '../../../people/persons.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import { problem } from '../problems.ts';
import type { SentNotify } from '../schemas.ts';
import { type NotifyTarget, notifyOf, type RuleRow } from './row.ts';

const LABEL = 'alert-notify';
const PUBLISH = 'queue.publish';

/** The secret address of each target; null where it has none. */
type Hidden = readonly (string | null)[];

export interface CheckedNotify {
  readonly targets: readonly NotifyTarget[];
  readonly hidden: Hidden;
}

/** Resolves names, so never in a transaction. `before`: the rule as it is, whose masked addresses may be sent again. */
export async function checkNotify(
  ctx: CallContext,
  sent: readonly SentNotify[],
  before: RuleRow | null,
): Promise<CheckedNotify> {
  const targets: NotifyTarget[] = [];
  const hidden: (string | null)[] = [];
  for (const [i, each] of sent.entries()) {
    const { target, secret } = await checkTarget(ctx, each, `notify[${i}]`, before);
    targets.push(target);
    hidden.push(secret);
  }
  return { targets, hidden };
}

async function checkTarget(ctx: CallContext, sent: SentNotify, param: string, before: RuleRow | null) {
  const { email, url, queue, slack_url: slack } = sent;
  if (email !== undefined) return { target: emailTarget(email, `${param}.email`), secret: null };
  if (queue !== undefined) {
    await checkQueue(ctx, queue, `${param}.queue`);
    return { target: { kind: 'queue', to: queue } as const, secret: null };
  }
  if (url !== undefined) {
    await checkUrl(ctx, url, `${param}.url`);
    return { target: { kind: 'url', to: url } as const, secret: null };
  }
  const kept = before === null ? undefined : keptSecret(ctx, before, slack as string);
  if (kept === undefined) await checkUrl(ctx, slack as string, `${param}.slack_url`);
  const secret = kept ?? (slack as string);
  return { target: { kind: 'slack', to: maskedUrl(secret) } as const, secret };
}

function emailTarget(sent: string, param: string): NotifyTarget {
  const address = mailAddress(sent);
  if (address === null) throw invalidField(param, 'format', `${param} is no e-mail address.`);
  return { kind: 'email', to: address };
}

async function checkUrl({ core, warnings }: CallContext, url: string, param: string): Promise<void> {
  const warning = await core.outbound.checkUrl(url, param);
  if (warning !== null) warnings.push(warning);
}

/** Who may not publish has nothing published. A queue that is not there may come. */
async function checkQueue(ctx: CallContext, queue: string, param: string): Promise<void> {
  const { scopes } = ctx.principal;
  if (!scopesAllow(scopes, PUBLISH, 'write'))
    throw problem('INSUFFICIENT_SCOPE', { param, message: `A notice to a queue needs the scope ${PUBLISH}.` });
  if (!scopesAllow(scopes, 'queue.get', 'read')) return;
  try {
    await ctx.invoke('queue.get', { queue });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'QUEUE_NOT_FOUND') throw error;
    ctx.warnings.push(`${param}: there is no queue ${queue} yet. Notices to it are dropped until there is.`);
  }
}

/** The address behind a masked one that an answer showed. */
function keptSecret({ core, accountId }: CallContext, before: RuleRow, sent: string): string | undefined {
  const at = notifyOf(before).findIndex(({ kind, to }) => kind === 'slack' && to === sent);
  return at === -1 ? undefined : (openHidden(core.secrets, accountId, before)[at] ?? undefined);
}

/** Host and last four characters. */
export function maskedUrl(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}/****${url.slice(-4)}`;
}

export function sealHidden(secrets: Secrets, accountId: string, rule: string, hidden: Hidden): Buffer | null {
  if (hidden.every((each) => each === null)) return null;
  return secrets.encrypt(LABEL, JSON.stringify([accountId, rule]), JSON.stringify(hidden));
}

export function openHidden(
  secrets: Secrets,
  accountId: string,
  { rule, sealed }: Pick<RuleRow, 'rule' | 'sealed'>,
): Hidden {
  if (sealed === null) return [];
  return JSON.parse(secrets.decrypt(LABEL, JSON.stringify([accountId, rule]), sealed)) as Hidden;
}

/** Addresses that somebody of the account has shown to be theirs. */
export async function confirmedAddresses(db: Queryable, accountId: string): Promise<ReadonlySet<string>> {
  const [owners, members] = await Promise.all([ownerAddresses(db, accountId), membersOf(db, accountId)]);
  const all = [...owners, ...members.flatMap(({ email }) => email ?? [])];
  return new Set(all.map((address) => address.toLowerCase()));
}

/** Throws VALIDATION_FAILED for the first address that nobody of the account has confirmed. */
export async function requireConfirmed(
  db: Queryable,
  accountId: string,
  targets: readonly NotifyTarget[],
): Promise<void> {
  if (!targets.some(({ kind }) => kind === 'email')) return;
  const confirmed = await confirmedAddresses(db, accountId);
  const at = targets.findIndex(({ kind, to }) => kind === 'email' && !confirmed.has(to));
  if (at === -1) return;
  throw invalidField(
    `notify[${at}].email`,
    'not_confirmed',
    `${targets[at]?.to} is no confirmed address of this account: mail goes to its own address (account.email.bind) and to those of its people.`,
  );
}
