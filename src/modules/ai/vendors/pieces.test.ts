import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Pieces } from './pieces.ts';
import type { AiCall, ChatPiece } from './port.ts';

const call = { key: null, countDroppedLine: () => undefined } as AiCall;
const usage = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, costUsd: null };

/** Each event is a number: a piece of it; `end` ends the stream. */
function piecesOf(body: Readable): Pieces {
  return new Pieces(call, body, ({ data }): ChatPiece[] =>
    data === 'end' ? [{ kind: 'end' }] : [{ kind: 'usage', usage: { ...usage, outputTokens: Number(data) } }],
  );
}
const numberIn = (piece: ChatPiece | undefined) => (piece?.kind === 'usage' ? piece.usage.outputTokens : piece?.kind);

test('whoever reads slowly holds the vendor back, and misses nothing', async () => {
  let given = 0;
  const body = new Readable({
    highWaterMark: 64,
    read() {
      given += 1;
      this.push(given <= 1_000 ? `data: ${given}\n\n` : 'data: end\n\n');
    },
  });
  const pieces = piecesOf(body);
  expect(numberIn((await pieces.next()).value)).toBe(1);
  for (let i = 0; i < 20; i += 1) await turn();
  expect(given).toBeLessThan(200);
  expect(body.isPaused()).toBe(true);
  const rest = (await Array.fromAsync(pieces)).map(numberIn);
  expect(rest).toEqual([...Array.from({ length: 999 }, (_, i) => i + 2), 'end']);
  expect(body.destroyed).toBe(true);
});

test.each([
  ['ends', null, 'VENDOR_DOWN'],
  ['breaks', Object.assign(new Error('broken'), { code: 'reset' }), 'VENDOR_DOWN'],
  ['is silent for too long', Object.assign(new Error('late'), { code: 'timeout' }), 'VENDOR_TIMEOUT'],
])('a body that %s without the end marker has failed, after what came', async (_, error, reason) => {
  const body = new Readable({ read: () => undefined });
  body.push('data: 1\n\n');
  const pieces = piecesOf(body);
  expect(numberIn((await pieces.next()).value)).toBe(1);
  const next = pieces.next();
  if (error === null) body.push(null);
  else body.destroy(error);
  expect((await next).value).toMatchObject({ kind: 'failed', failure: { reason } });
  expect(await pieces.next()).toEqual({ done: true, value: undefined });
});

test('an event that grows too long is a failure, and is not read on', async () => {
  let given = 0;
  const body = new Readable({
    read() {
      given += 1;
      this.push(given === 1 ? 'data: ' : given > 100 ? null : 'x'.repeat(1024 * 1024));
    },
  });
  expect((await piecesOf(body).next()).value).toMatchObject({ kind: 'failed', failure: { reason: 'VENDOR_DOWN' } });
  expect(given).toBeLessThan(10);
  expect(body.destroyed).toBe(true);
});

test('when it is returned, who waits is told, and the vendor is ended', async () => {
  const body = new Readable({ read: () => undefined });
  const pieces = piecesOf(body);
  const next = pieces.next();
  await pieces.return();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(body.destroyed).toBe(true);
});
