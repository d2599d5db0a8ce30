import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CaptureInput, draftOf } from './capture-input.ts';
import { unpackLine } from './event-detail.ts';
import { readyToStore } from './ready-to-store.ts';

const secrets = ['password=swordfish', 'to bob@example.org', '4111 1111 1111 1111'];
const plain = ['refused', 'GET /a', 'a\\b', ''];

/** Under the names of this service, of another, or of both. */
function eitherOrBoth(own: Record<string, fc.Arbitrary<unknown>>, other: Record<string, fc.Arbitrary<unknown>>) {
  const some = { requiredKeys: [] };
  return fc.oneof(fc.record(own, some), fc.record(other, some), fc.record({ ...own, ...other }, some));
}

function inputOf(text: fc.Arbitrary<string>, name: fc.Arbitrary<string>): fc.Arbitrary<CaptureInput> {
  const members = fc.dictionary(name, text, { noNullPrototype: true });
  const lines = { context_line: text, context_pre: fc.array(text), vars: members };
  const named = { file: text, ...lines };
  const aliased = { function: text, filename: text, lineno: fc.nat(), colno: fc.nat(), module: text, ...lines };
  const frame = eitherOrBoth(named, aliased);
  const trace = fc.oneof(text, fc.array(frame, { maxLength: 3 }));
  const mechanism = fc.record({ type: text, handled: fc.boolean(), data: members }, { requiredKeys: [] });
  const thrown = { type: text, value: text, stacktrace: trace };
  const thrownElsewhere = { type: text, message: text, stack: trace, module: text, mechanism };
  const exception = fc.oneof(text, eitherOrBoth(thrown, thrownElsewhere));
  const at = fc.constant('2026-01-02T03:04:05Z');
  const timestamp = fc.oneof(at, fc.double({ noNaN: true }));
  const breadcrumb = eitherOrBoth({ at, message: text, data: members }, { timestamp, message: text });
  const scalar = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null));
  return fc.record(
    {
      title: text,
      message: text,
      exception,
      tags: fc.dictionary(name, scalar, { noNullPrototype: true }),
      user_id: scalar,
      release: scalar,
      breadcrumbs: fc.array(breadcrumb, { maxLength: 3 }),
      context: members,
      extra: members,
      service: text,
      code: text,
      stack: text,
      sdk: members,
      runtime: members,
      request: members,
      user: members,
    },
    { requiredKeys: [] },
  );
}

const hiding = inputOf(
  fc.constantFrom(...secrets, ...plain),
  fc.constantFrom('note', 'token', 'name', 'value', 'vars'),
);
test('nothing of a secret is in what is stored of an event, wherever it stood', () => {
  let hidden = 0;
  fc.assert(
    fc.property(hiding, (sent) => {
      const source = JSON.stringify(sent);
      const { contact, ...ready } = readyToStore(draftOf(sent, [], source), null);
      const stored = JSON.stringify({ ...ready, detail: unpackLine(Buffer.from(ready.detail), 0, 0) });
      expect(stored).not.toContain('swordfish');
      expect(stored).not.toContain('4111 1111');
      if (/swordfish|4111 1111/.test(source)) hidden += 1;
    }),
    { numRuns: 1_500 },
  );
  expect(hidden).toBeGreaterThan(500);
});
