// Vendors that lie: whatever they answer, an adapter neither throws nor gives the key away.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { VendorJob } from '../../src/vendors/call/job.ts';
import { CALLBACK_URL, describeAdapters } from '../support/vendors/describe-adapters.ts';

const KINDS = new Set([
  ...['accepted', 'refused', 'unknown', 'queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired', 'gone'],
  ...['unanswered', 'stopped', 'requested', 'impossible'],
]);

const shapes = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      id: fc.jsonValue(),
      request_id: fc.jsonValue(),
      status: fc.oneof(fc.constantFrom('queued', 'COMPLETED', 'succeeded', 'failed', 'canceled'), fc.jsonValue()),
      output: fc.oneof(
        fc.record({
          task_id: fc.jsonValue(),
          task_status: fc.constantFrom('SUCCEEDED', 'FAILED'),
          video_url: fc.jsonValue(),
        }),
        fc.jsonValue(),
      ),
      content: fc.jsonValue(),
      error: fc.jsonValue(),
      detail: fc.jsonValue(),
      urls: fc.jsonValue(),
      usage: fc.jsonValue(),
      key: fc.jsonValue(),
      results: fc.jsonValue(),
      unsigned_urls: fc.array(
        fc.oneof(fc.constantFrom('http://[', '//', 'javascript:1', 'file:///etc/passwd'), fc.string()),
      ),
    },
    { requiredKeys: [] },
  ),
);
const reply = fc.record({
  status: fc.constantFrom(200, 200, 201, 202, 400, 404, 409, 422, 429, 500, 503),
  body: shapes,
});

describeAdapters((wire, there) => {
  test('whatever JSON comes, nothing is thrown and every outcome is one of the known', async () => {
    const { job, at } = await there().acceptedJob({ callbackUrl: CALLBACK_URL });
    await fc.assert(
      fc.asyncProperty(reply, async (answer) => {
        for (const operation of ['submit', 'poll', 'result', 'cancel', 'purge', 'list', 'keys'] as const) {
          there().double.script(operation, { reply: answer });
        }
        const kinds = [
          (await there().submit()).kind,
          (await there().poll(job)).kind,
          (await there().adapter.cancel(there().call(), job)).kind,
        ];
        expect(kinds.every((kind) => KINDS.has(kind))).toBe(true);
        await there().adapter.purge?.(there().call(), job);
        await there().adapter.find?.(there().call(), 'tok', {});
        const callback = {
          model: wire.model,
          options: wire.options,
          nowMs: Date.now(),
          headers: there().double.callback(at).headers,
        };
        await there().adapter.readCallback?.(there().call(), {
          ...callback,
          body: Buffer.from(JSON.stringify(answer.body)),
        });
        there().double.forget();
      }),
      { numRuns: 60 },
    );
  });

  test('a job whose addresses lead elsewhere gets the key nowhere else, and nothing private is reached', async () => {
    const { job } = await there().acceptedJob();
    const to = (origin: string): VendorJob => ({
      ...job,
      details: Object.fromEntries(Object.keys(job.details).map((key) => [key, `${origin}/${key}`])),
    });
    await there().adapter.poll(there().call(), to(`http://${there().double.assetHost}`));
    await there().adapter.cancel(there().call(), to(`http://${there().double.assetHost}`));
    const seen = there().double.assetCalls.length;
    expect(there().double.assetCalls.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    // Nothing private is reached but what the operator wrote.
    const lost = await there().adapter.poll(there().call({ assetHosts: [] }), to(`http://${there().double.assetHost}`));
    expect(there().double.assetCalls).toHaveLength(seen);
    if (seen > 0) expect(lost).toMatchObject({ kind: 'unanswered' });
    expect(seen > 0).toBe(['fal', 'replicate'].includes(wire.name));
  });
});
