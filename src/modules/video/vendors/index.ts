// Video adapters, by their name in the configuration. A new adapter is one line here.
import { ark } from './ark.ts';
import { dashscope } from './dashscope.ts';
import { falAdapter } from './fal.ts';
import { openaiVideos } from './openai-videos.ts';
import type { VideoAdapter } from './port.ts';
import { replicateAdapter } from './replicate.ts';

/** One set for a process: some remember what callbacks are signed with. */
export function videoAdapters(): readonly VideoAdapter[] {
  return [openaiVideos, falAdapter(), replicateAdapter(), dashscope, ark];
}
