// Streams the bytes of an asset for a raw route.

import type { Core } from '../core/core.ts';
import { problem } from '../problems/problem.ts';
import { AssetGone } from '../vendors/assets/port.ts';
import type { AssetsPart } from './assets.ts';
import { available } from './assets.ts';

/** From `start` to `end`, both included. Throws NOT_FOUND for what was removed, SERVICE_UNAVAILABLE where the store does not give it now. */
export async function* assetBytes(
  { assets, log }: AssetsPart & Pick<Core, 'log'>,
  key: string,
  { start, end, gone }: { readonly start: number; readonly end: number; readonly gone: string },
) {
  const pieces = assets.open(key, start, end)[Symbol.asyncIterator]();
  try {
    const first = await available(log, () => pieces.next());
    for (let piece = first; piece.done !== true; piece = await pieces.next()) yield piece.value;
  } catch (error) {
    throw error instanceof AssetGone ? problem('NOT_FOUND', { message: gone }) : error;
  } finally {
    await pieces.return?.();
  }
}
