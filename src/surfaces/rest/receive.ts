// Accounting of bodies by the bytes received, not by the announced length, so an idle connection takes no memory share.
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isShort } from '../../gateway/bulk/readers.ts';
import { Blocks } from './blocks.ts';
import { slotOf } from './call-slot.ts';
import { type FailureOptions, fail } from './failures.ts';

/** A chunk in memory is more than its bytes: a body that comes byte by byte takes hundreds of times its length. */
const CHUNK_BYTES = 256;

/** The stream that the body is to be read from. A body beyond the bounds is refused as it arrives. */
export function receiving(
  options: FailureOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
  inBlocks: boolean,
): Readable {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  const { traffic } = options;
  if (announced <= traffic.bounds.call.uncountedBodyBytes) return payload;
  const slot = slotOf(request);
  const { place } = slot;
  if (place === undefined) return payload;
  const count = (chunk: Buffer) => {
    try {
      traffic.receive(place, chunk.length + CHUNK_BYTES);
    } catch (error) {
      payload.off('data', count);
      fail(options, request, reply, error);
    }
  };
  payload.on('data', count);
  if (!inBlocks || isShort(announced)) return payload;
  slot.blocks = new Blocks(payload, announced, request.routeOptions.bodyLimit);
  return slot.blocks;
}
