// The details of the events of one commit, cut into blocks: by account and, since a block ends with its partition, by day.
import { sequenceMs } from '../../../lib/sequence.ts';
import { packLines, type ReadyDetail } from '../intake/event-detail.ts';
import { dayOf } from '../retention.ts';

/** Who reads one event unpacks its block. */
const BLOCK_CHARACTERS_MAX = 256 * 1024;

/** Where the detail of an event is. */
export interface DetailPlace {
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

  add(accountId: string, seq: bigint, detail: ReadyDetail): DetailPlace {
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
