// Messages between the service and a picture process.

/** What one picture may take of the process that makes it. */
export interface DecodeBounds {
  /** Processor time. */
  readonly cpuMsMax: number;
  readonly msMax: number;
  /** Resident memory. */
  readonly memoryBytesMax: number;
}

export interface PictureRefusal {
  readonly rule:
    | 'not_an_image'
    | 'image_animated'
    | 'image_size'
    | 'image_too_large'
    | 'image_too_costly'
    | 'image_frames';
  readonly message: string;
}

export type PictureOutcome<Made> =
  | ({ readonly kind: 'made' } & Made)
  | ({ readonly kind: 'refused' } & PictureRefusal)
  /** The machine is too busy; it may succeed later. */
  | { readonly kind: 'late' };

export interface Order<Task> {
  readonly from: string;
  readonly to: string;
  readonly task: Task;
}

export type Told<Task, Bounds> =
  | { readonly kind: 'order'; readonly order: Order<Task>; readonly bounds: Bounds }
  /** The turn of a large picture. */
  | { readonly kind: 'go' };

export type Said<Made> =
  /** The picture waits for its turn. */
  { readonly kind: 'large' } | { readonly kind: 'done'; readonly outcome: PictureOutcome<Made> };

/** Exit code of a process whose picture took too much. */
export const TOO_COSTLY = 3;

export function refusedPicture(rule: PictureRefusal['rule'], message: string) {
  return { kind: 'refused', rule, message } as const;
}
