// Chunks of vendors that are no stream of that wire: calls that never end, or go on after their end.
import { expect, test } from 'vitest';
import type { WireObject } from '../../../lib/chat/body.ts';
import { MessageWire } from './wire.ts';

const MIB = 1024 * 1024;

function call(index: number, piece: string): WireObject {
  const tool_calls = [{ index, id: `c${index}`, function: { name: 'f', arguments: piece } }];
  return { id: '1', model: 'm', choices: [{ index: 0, delta: { tool_calls } }] };
}

/** `chunks` one after the other; how many bytes were held for them. */
function tell(chunks: Iterable<WireObject>): { readonly frames: string[]; readonly heldBytes: number } {
  let heldBytes = 0;
  const wire = new MessageWire('req_1', (bytes) => {
    heldBytes += bytes;
  });
  const frames: string[] = [];
  for (const chunk of chunks) for (const frame of wire.chunk(chunk)) frames.push(frame);
  return { frames, heldBytes };
}

test('inputs of calls are held for as they grow, and end the stream beyond 4 MiB', () => {
  const part = 'x'.repeat(MIB / 4);
  const chunks = (count: number) => Array.from({ length: count }, () => call(0, part));
  const { heldBytes } = tell(chunks(16));
  expect(heldBytes).toBeGreaterThan(3.9 * MIB);
  expect(() => tell(chunks(17))).toThrow(/without an end/);
});

test('calls that wait for one before them are held for too', () => {
  const waiting = Array.from({ length: 17 }, () => call(1, 'x'.repeat(MIB / 4)));
  expect(() => tell([call(0, '{'), ...waiting])).toThrow(/without an end/);
});

test('a call that goes on after the next has begun is no answer', () => {
  expect(() => tell([call(0, '{}'), call(1, '{'), call(0, ' ')])).toThrow(/adds to a tool call/);
});
