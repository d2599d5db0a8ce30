// Storage of a mail's content: short ones in its row, long ones in the asset store.
import { available } from '../../../assets/assets.ts';
import type { Services } from '../../../kit/services.ts';
import { SOURCE_IN_ROW_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import type { MessageRow } from './row.ts';
import { findSource } from './store.ts';

export const SOURCES = 'email/';

export const sourceKey = (accountId: string, emailId: string) => `${SOURCES}${accountId}/${emailId}`;

/** Before the row is written: what of it goes there. */
export async function keepSource(
  { assets, log }: Pick<Services, 'assets' | 'log'>,
  accountId: string,
  emailId: string,
  packed: Buffer,
): Promise<{ readonly source: Buffer | null; readonly isStored: boolean }> {
  if (packed.length <= SOURCE_IN_ROW_BYTES_MAX) return { source: packed, isStored: false };
  await available(log, () => assets.putNew(sourceKey(accountId, emailId), packed));
  return { source: null, isStored: true };
}

/** Throws NOT_FOUND once the content is gone. */
export async function readSource(
  { db, assets, log }: Pick<Services, 'db' | 'assets' | 'log'>,
  { account_id, email_id, source_stored: isStored }: MessageRow,
): Promise<Buffer> {
  const source = isStored
    ? await available(log, () => assets.read(sourceKey(account_id, email_id)))
    : await findSource(db, account_id, email_id);
  if (source === null)
    throw problem('NOT_FOUND', { message: 'The content of this mail is not kept any more.', param: 'email_id' });
  return source;
}
