// Events of a chat, the same for every endpoint that starts one.

import type { Answer } from '../../../kit/capability.ts';
import type { WireObject } from '../../../lib/chat/body.ts';

/** What comes of a chat, in this order; chunks only of one that streams. */
export type ChatEvent =
  | { readonly kind: 'accepted'; readonly vendor: string; readonly model: string }
  | { readonly kind: 'chunk'; readonly chunk: WireObject }
  | ChatEnd;

/** The answer is complete, and charged. */
export interface ChatEnd {
  readonly kind: 'end';
  readonly completion: WireObject;
  readonly usage: WireObject;
  /** The vendor did not say what it used: it was counted here. */
  readonly isEstimated: boolean;
  /** `completion` is all of it: it was not too long. */
  readonly isWhole: boolean;
  readonly answer: Omit<Answer, 'data'>;
}
