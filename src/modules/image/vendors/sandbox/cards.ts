// The image sandbox: draws cards with the words of a prompt, in threads. The same request and seed give the same bytes.
import { withoutOrders } from '../../../../jobs/orders.ts';
import { Threads } from '../../../../lib/threads.ts';
import type { CardTask } from './card-thread.ts';

const threads = new Threads<CardTask, undefined>(new URL('./card-thread.ts', import.meta.url));

/** Writes the `index`-th image of a request to `path`. Throws when `signal` ends it, or the thread fails. */
export async function drawCard(
  {
    prompt,
    seed,
    ...task
  }: Omit<CardTask, 'text' | 'seed'> & { readonly prompt: string; readonly seed: number | null },
  index: number,
  signal: AbortSignal,
): Promise<void> {
  const text = withoutOrders(prompt).trim();
  const made = await threads.run({ ...task, text, seed: hashOf(`${seed ?? text}/${index}`) }, signal);
  signal.throwIfAborted();
  if (made === null) throw new Error('the thread of an image ended');
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
