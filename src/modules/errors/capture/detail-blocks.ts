// Detail blocks of one commit: the details of its events, cut by account and, since a block ends with its partition, by day.

import { byteaArray, int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { packLines, type ReadyDetail } from '../intake/event-detail.ts';
import { dayOf } from '../retention.ts';

/** Who reads one event unpacks its block. */
const BLOCK_CHARACTERS_MAX = 256 * 1024;

/** Where the detail of an event is. */
export interface DetailPosition {
  /** Of the block: that of its first event. */
  readonly seq: bigint;
  readonly line: number;
}

interface OpenBlock {
  readonly accountId: string;
  readonly seq: bigint;
  readonly lines: string[];
  characters: number;
}

export interface DetailBlock {
  readonly accountId: string;
  readonly seq: bigint;
  readonly packed: Buffer;
}

export class DetailBlocks {
  readonly #packed: DetailBlock[] = [];
  readonly #shared: OpenBlock[] = [];
  readonly #open = new Map<string, OpenBlock>();

  add(accountId: string, seq: bigint, detail: ReadyDetail): DetailPosition {
    if (typeof detail !== 'string') {
      this.#packed.push({ accountId, seq, packed: detail });
      return { seq, line: 0 };
    }
    const block = this.#blockFor(accountId, seq, detail.length);
    block.lines.push(detail);
    block.characters += detail.length;
    return { seq: block.seq, line: block.lines.length - 1 };
  }

  /** All blocks, packed. */
  blocks(): DetailBlock[] {
    return [
      ...this.#packed,
      ...this.#shared.map(({ accountId, seq, lines }) => ({ accountId, seq, packed: packLines(lines) })),
    ];
  }

  #blockFor(accountId: string, seq: bigint, characters: number): OpenBlock {
    const key = `${dayOf(sequenceMs(seq))} ${accountId}`;
    let block = this.#open.get(key);
    if (block === undefined || block.characters + characters > BLOCK_CHARACTERS_MAX) {
      block = { accountId, seq, lines: [], characters: 0 };
      this.#open.set(key, block);
      this.#shared.push(block);
    }
    return block;
  }
}

// SQL of the blocks that details of events are stored in.

const insertBlocks = statement(
  'errors_capture_insert_details',
  `INSERT INTO errors.event_detail AS d (account_id, seq, lines)
   SELECT w.account_id, u.seq, u.lines
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::bytea[]) u(account_id, seq, lines)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const insertBlock = statement(
  'errors_capture_insert_detail',
  'INSERT INTO errors.event_detail (account_id, seq, lines) VALUES ($1, $2, $3)',
);

/** As elements of an array longer blocks would be copied once more. */
const SHARED_BYTES_MAX = 16 * 1024;

export function sendDetails(tx: Queryable, accounts: Buffer, blocks: readonly DetailBlock[]): void {
  const isLong = ({ packed }: DetailBlock) => packed.length > SHARED_BYTES_MAX;
  const short = blocks.filter((block) => !isLong(block));
  if (short.length > 0) {
    void tx.query(insertBlocks, [
      accounts,
      textArray(short.map(({ accountId }) => accountId)),
      int8Array(short.map(({ seq }) => seq)),
      byteaArray(short.map(({ packed }) => packed)),
    ]);
  }
  for (const { accountId, seq, packed } of blocks.filter(isLong)) void tx.query(insertBlock, [accountId, seq, packed]);
}
