// The adapters of images by the name that the configuration gives them. Adding one is a line here.
import { falAdapter } from './fal.ts';
import { openaiImages } from './openai-images.ts';
import type { ImageAdapter } from './port.ts';

/** One set for a process: some remember what callbacks are signed with. */
export function imageAdapters(): readonly ImageAdapter[] {
  return [openaiImages, falAdapter()];
}
