// Links to the images of a job: `img_….0.png` is the first.
import type { LinkShape } from '../../../jobs/links.ts';

export const CONTENT_PATH = '/v1/image/content';

const ENDING = /^(\d)\.(?:png|jpg|webp)$/;
const endings: Readonly<Record<string, string>> = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' };

export const imageLinks: LinkShape = {
  secret: 'image-links',
  path: CONTENT_PATH,
  pattern: /^(img_[0-9A-Za-z]{20,40})\.(\d\.(?:png|jpg|webp))$/,
  kindOf: (ending) => ENDING.exec(ending)?.[1] ?? null,
};

/** Which file of its job an image is. */
export const endingOf = (index: number, contentType: string) => `${index}.${endings[contentType] ?? 'png'}`;
