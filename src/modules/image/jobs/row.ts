// The request and the result of an image job, as its row stores them.
import type { StoredFile } from '../../../jobs/content.ts';
import type { JobRow } from '../../../jobs/row.ts';

/** An image that was sent, written anew: an asset. */
export interface SentPicture {
  readonly asset: string;
  readonly contentType: 'image/png';
}

/** What is to be made. `prompt` is emptied when the images go. */
export interface Wanted {
  readonly prompt: string;
  /** `1024x1024`. */
  readonly size: string;
  readonly n: number;
  readonly seed: number | null;
  /** What is drawn upon; null: nothing is. */
  readonly image: SentPicture | null;
  /** Where: its transparent parts are drawn anew. */
  readonly mask: SentPicture | null;
}

export interface StoredImage extends StoredFile {
  readonly contentType: string;
  readonly widthPx: number;
  readonly heightPx: number;
}

export const wantedOf = ({ request }: Pick<JobRow, 'request'>) => JSON.parse(request) as Wanted;
export const imagesOf = ({ made }: Pick<JobRow, 'made'>) =>
  made === null ? [] : (JSON.parse(made) as { readonly images: readonly StoredImage[] }).images;

/** Pixels of a size such as `1024x1024`. */
export function sidesOf(size: string): { widthPx: number; heightPx: number } {
  const [widthPx = 0, heightPx = 0] = size.split('x').map(Number);
  return { widthPx, heightPx };
}
