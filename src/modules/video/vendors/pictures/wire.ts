// What the service and a process that makes pictures tell each other.
import type { PictureBounds, PictureOutcome, PictureTask } from '../port.ts';

export interface Order {
  readonly from: string;
  readonly to: string;
  readonly task: PictureTask;
}

export type Told =
  | { readonly kind: 'order'; readonly order: Order; readonly bounds: PictureBounds }
  /** The turn of a large picture. */
  | { readonly kind: 'go' };

export type Said =
  /** The picture waits for its turn. */
  { readonly kind: 'large' } | { readonly kind: 'done'; readonly outcome: PictureOutcome };

/** Exit code of a process whose picture took too much. */
export const TOO_COSTLY = 3;
