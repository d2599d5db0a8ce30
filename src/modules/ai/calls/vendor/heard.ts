// State of an answer being received: its content so far, and the usage that its vendor reports.

import { soundUsage } from '../../models/price.ts';
import type { AiUsage, ChatPiece } from '../../vendors/port.ts';
import { Assembly } from '../assemble.ts';

export class Heard {
  readonly said = new Assembly();
  /** As the vendor tells it. */
  usage: AiUsage | null = null;
  /** It may still grow. */
  #isPartial = false;

  /** The same piece. */
  note(piece: ChatPiece): ChatPiece {
    if (piece.kind === 'usage') {
      this.usage = soundUsage(piece.usage);
      this.#isPartial = piece.isPartial === true;
    }
    if (piece.kind === 'chunk') this.said.add(piece.chunk);
    return piece;
  }

  /** Of an answer that is read no further: what the vendor said in the beginning has grown since. */
  async usageByNow(): Promise<AiUsage | null> {
    if (this.usage === null || !this.#isPartial) return this.usage;
    return { ...this.usage, outputTokens: Math.max(this.usage.outputTokens, await this.said.tokens()) };
  }
}
