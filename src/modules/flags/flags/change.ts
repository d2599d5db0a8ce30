// Changes of flags: one transaction has the flags, the account's revision and the history; then this process serves what was written.
import type { CallContext } from '../../../core/context.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import type { Transaction } from '../../../db/database.ts';
import { ACCOUNT_BYTES_MAX, SHOWN_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import type { FlagsState } from '../state.ts';
import { type FlagRow, type NewFlag, settingsOf, showFlag } from './definition.ts';
import { type Action, type FlagChange, noteChanges } from './history.ts';
import { bump, flagLimits, removeFlags, saveFlags } from './store.ts';

/** What a change does to the account's flags. */
export interface FlagChanges {
  readonly action: Action;
  readonly saved: readonly NewFlag[];
  readonly removed: readonly string[];
  /** Of all definitions, by how much they grow. */
  readonly bytes: number;
  /** How many more flags there are. */
  readonly added: number;
  /** Fields of a single flag that have other values than before. */
  readonly changedFields?: readonly string[];
}

/** A free write; this process sees it at once. */
export async function writeFlags(
  ctx: CallContext,
  { served }: Pick<FlagsState, 'served'>,
  body: (tx: Transaction, entry: { readonly nowMs: number }) => Promise<unknown>,
) {
  const written = await runWrite(ctx, body);
  served.changed(ctx.accountId);
  return written;
}

/** Within `writeFlags`. Answers the revision. Throws QUOTA_EXCEEDED. */
export async function change(
  tx: Transaction,
  ctx: CallContext,
  { action, saved, removed, bytes, added, changedFields = [] }: FlagChanges,
  nowMs: number,
): Promise<bigint> {
  const { accountId } = ctx;
  if (added > 0) await requireFlagRoom(tx, ctx, added);
  const after = await bump(tx, accountId, bytes, nowMs);
  if (bytes > 0 && after.bytes > ACCOUNT_BYTES_MAX)
    throw problem('QUOTA_EXCEEDED', {
      message: `The flags of an account have at most ${ACCOUNT_BYTES_MAX} bytes together.`,
    });
  await removeFlags(tx, accountId, removed);
  await saveFlags(tx, accountId, saved, after.revision, nowMs);
  const changes: FlagChange[] = [
    ...removed.map((key) => ({ key, action: 'delete' as const, changedFields: [], flag: null })),
    ...saved.map((flag) => ({ key: flag.key, action, changedFields, flag: shown(flag, after.revision, nowMs) })),
  ];
  const by = { accountId, actor: ctx.principal.id, revision: after.revision };
  if (changes.length > 0) await noteChanges(tx, by, changes, nowMs);
  return after.revision;
}

/** As rows are shown; when it was created stands in its first change. */
function shown(flag: NewFlag, revision: bigint, nowMs: number): string | null {
  if (flag.bytes > SHOWN_BYTES_MAX) return null;
  const { created_at: _, ...rest } = showFlag({ ...flag, revision, created_at: nowMs, updated_at: nowMs });
  return JSON.stringify(rest);
}

async function requireFlagRoom(tx: Transaction, { accountId, tier }: CallContext, added: number): Promise<void> {
  const most = flagLimits.flags[tier];
  if ((await flagLimits.flags.used(tx, accountId)) + added <= most) return;
  throw problem('QUOTA_EXCEEDED', { message: `Flag limit reached: ${most} on tier ${tier}.` });
}

/** Names of the fields that differ. */
export function changedFieldsOf(before: FlagRow, after: NewFlag): string[] {
  const [old, now] = [settingsOf(before), settingsOf({ ...before, ...after })];
  const names = ['description', 'enabled', 'default_variant', 'variants', 'targeting', 'metadata'] as const;
  return names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
}
