import { expect, test } from 'vitest';
import { findWaits } from './check-tests.ts';

test.each([
  ['await sleep(200);', 'sleeps'],
  ['await new Promise((resolve) => setTimeout(resolve, 300));', 'sleeps'],
  ['expect(performance.now() - begunMs).toBeLessThan(5_000);', 'bounds time'],
  ['expect(ms).toBeLessThan(allowedMs(5_000));', 'bounds time'],
  ['service = await startTestService();', 'starts a service'],
])('%s is told, unless a reason stands above it', (line, message) => {
  expect(findWaits('test/a.test.ts', line)).toEqual([expect.stringContaining(`test/a.test.ts:1 ${message}`)]);
  const reasons = ['// sleeps: a', '// bounds time: a', '// own service: a'];
  expect(reasons.map((reason) => findWaits('test/a.test.ts', `${reason}\n${line}`).length).sort()).toEqual([0, 1, 1]);
});

test.each([
  'await sleep(intervalMs);',
  'await startTestService({ env })',
  'expect(service.turns).toBeLessThan(5)',
  'setTimeout(answer, 300)',
])('%s is not', (line) => {
  expect(findWaits('test/a.test.ts', line)).toEqual([]);
});
