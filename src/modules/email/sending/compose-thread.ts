// A thread that composes and signs long mails.
import { serve } from '../../../lib/threads.ts';
import { unpackContent } from '../messages/content.ts';
import { type CopyLinks, compose, type DkimKey } from './compose.ts';

export interface ComposeTask {
  readonly packed: Uint8Array;
  readonly links: CopyLinks | null;
  readonly key: DkimKey | null;
}

serve<ComposeTask, Uint8Array<ArrayBuffer>>(
  async ({ packed, links, key }) => new Uint8Array(await compose(unpackContent(packed), links, key)),
  (bytes) => [bytes.buffer],
);
