// Image vendor adapters by their name in the configuration. A new adapter is one line here.
import { falAdapter } from './fal.ts';
import { openaiImages } from './openai-images.ts';
import type { ImageAdapter } from './port.ts';

/** One set for a process: some remember what callbacks are signed with. */
export function imageAdapters(): readonly ImageAdapter[] {
  return [openaiImages, falAdapter()];
}
