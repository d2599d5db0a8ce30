// A mail that is refused in its middle: it is read to its end, slowly.
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { FairPlaces } from '../../../lib/fair-places.ts';
import { type DataStream, takeData } from './data.ts';

test('each piece behind the refusal waits 20 ms, and the reply comes at the end', async () => {
  const behind = Array.from({ length: 5 }, () => Buffer.from('more\r\n'));
  const stream = Object.assign(Readable.from([Buffer.from('a line feed alone\n'), ...behind]), {
    sizeExceeded: false,
  }) as DataStream;
  const held = new FairPlaces(1024);
  const sinceMs = performance.now();
  await expect(takeData(stream, 'sender', held)).rejects.toMatchObject({ responseCode: 554 });
  // A timer may fire up to a millisecond early.
  expect(performance.now() - sinceMs).toBeGreaterThanOrEqual(behind.length * 19);
  expect(stream.readableEnded).toBe(true);
});
