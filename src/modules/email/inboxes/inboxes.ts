// Rows and records of inboxes. An address exists once in the service: email.inbox_address has its owner.
import Type, { type Static } from 'typebox';
import type { CountedLimit } from '../../../core/callers/tiers.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { instant, textOrNull } from '../../../kit/fields.ts';
import { type Resource, resourceTable, rowSaver } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';

export interface InboxRow {
  readonly inbox_id: string;
  readonly address: string;
  readonly domain: string;
  readonly queue: string | null;
  readonly message_count: bigint;
  readonly created_at: number;
}

export interface InboxRef {
  readonly accountId: string;
  readonly inboxId: string;
}

export const inboxIdField = Type.String({
  maxLength: 100,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'ID of the inbox: `inb_…`.',
});

export const inboxSchema = Type.Object({
  inbox_id: Type.String({ description: 'ID of the inbox.' }),
  address: Type.String({ description: 'Its address, in lower case.' }),
  queue: textOrNull('The queue in which each mail also becomes a message; null: none.'),
  message_count: Type.Integer({ minimum: 0, description: 'Mails that it holds.' }),
  created_at: instant('When it was created.'),
});

const shape = {
  table: 'email.inbox',
  key: 'inbox_id',
  isNewestFirst: true,
  columns: 'inbox_id, address, domain, queue, message_count, created_at',
};

export const inboxTable = resourceTable<InboxRow>(shape);
export const saveInbox = rowSaver<InboxRow>(shape);

export const inboxLimits = {
  email_inboxes: {
    description: 'Inboxes for received mail.',
    used: inboxTable.count,
    standard: 10,
    pro: 100,
    enterprise: 1_000,
  } satisfies CountedLimit,
};

const findAddresses = statement(
  'email_find_inbox_addresses',
  `/* fan-out: whose an address is; every node holds this table whole */
   SELECT a.address, a.account_id, a.inbox_id FROM email.inbox_address a WHERE a.address = ANY($1::text[])`,
);
const claimAddress = statement(
  'email_claim_inbox_address',
  `INSERT INTO email.inbox_address (address, account_id, inbox_id) VALUES ($1, $2, $3) ON CONFLICT (address) DO NOTHING`,
);
const freeAddress = statement(
  'email_free_inbox_address',
  'DELETE FROM email.inbox_address WHERE address = $1 AND account_id = $2 AND inbox_id = $3',
);

/** The inboxes of those of the addresses, in lower case, that are inboxes of this service. */
export async function inboxesOf(db: Queryable, addresses: readonly string[]): Promise<Map<string, InboxRef>> {
  if (addresses.length === 0) return new Map();
  const { rows } = await db.query<{ address: string; account_id: string; inbox_id: string }>(findAddresses, [
    textArray(addresses),
  ]);
  return new Map(rows.map((row) => [row.address, { accountId: row.account_id, inboxId: row.inbox_id }]));
}

/** False: somebody has it. */
export async function takeAddress(
  tx: Transaction,
  address: string,
  { accountId, inboxId }: InboxRef,
): Promise<boolean> {
  return (await tx.query(claimAddress, [address, accountId, inboxId])).count > 0;
}

export async function giveAddress(tx: Transaction, address: string, { accountId, inboxId }: InboxRef): Promise<void> {
  await tx.query(freeAddress, [address, accountId, inboxId]);
}

export const inboxes: Omit<Resource<InboxRow, unknown, typeof inboxSchema>, 'remove'> = {
  ...inboxTable,
  noun: 'inbox',
  keyName: 'inbox_id',
  keyField: inboxIdField,
  output: inboxSchema,
  show: showInbox,
};

export function showInbox(row: InboxRow): Static<typeof inboxSchema> {
  const { inbox_id, address, queue, message_count, created_at } = row;
  return { inbox_id, address, queue, message_count: Number(message_count), created_at: iso(created_at) };
}
