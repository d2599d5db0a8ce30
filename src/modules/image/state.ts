// What the image module keeps in one process.
import type { Core } from '../../core/context.ts';
import { AnswerEffect } from '../../core/wallet/charge/charge-answer.ts';
import { Images } from './pictures/images.ts';

export interface ImageState {
  readonly core: Core;
  readonly images: Images;
  readonly transforming: AnswerEffect;
}

export function startImage(core: Core): ImageState {
  return { core, images: new Images(core), transforming: new AnswerEffect('image.transform') };
}
