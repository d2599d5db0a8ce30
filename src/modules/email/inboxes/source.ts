// Source of received mail: in its row or, when it is long, in the asset store under its id.
import { available } from '../../../assets/assets.ts';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';

/** What keys of received mail begin with in the asset store. */
export const INBOUND = 'inbound/';

export function sourceKey(accountId: string, inboundId: string): string {
  return `${INBOUND}${accountId}/${inboundId}`;
}

const find = statement(
  'email_find_received_source',
  'SELECT r.source, r.source_stored FROM email.received r WHERE r.account_id = $1 AND r.inbound_id = $2',
);

/** Null: there is no such mail. Throws SERVICE_UNAVAILABLE. */
export async function receivedSource(
  { db, assets, log }: Pick<Services, 'db' | 'assets' | 'log'>,
  accountId: string,
  inboundId: string,
): Promise<Buffer | null> {
  const { rows } = await db.query<{ source: Buffer | null; source_stored: boolean }>(find, [accountId, inboundId]);
  const row = rows[0];
  if (row === undefined) return null;
  return row.source_stored ? available(log, () => assets.read(sourceKey(accountId, inboundId))) : row.source;
}
