import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CaptureInput, cleanMembers, draftOf } from './capture-input.ts';
import { scrubEvent } from './scrub/scrub.ts';

const text = fc.constantFrom(
  'refused',
  'GET /a',
  'password=swordfish',
  'to bob@example.org',
  '4111 1111 1111 1111',
  'a\\b',
  '',
);
const members = fc.dictionary(fc.constantFrom('note', 'token', 'name', 'value', 'vars'), text, {
  noNullPrototype: true,
});
const frame = fc.record({ file: text, context_line: text, context_pre: fc.array(text), vars: members });
const exception = fc.oneof(
  text,
  fc.record({ type: text, value: text, stacktrace: fc.oneof(text, fc.array(frame, { maxLength: 3 })) }),
);
const input: fc.Arbitrary<CaptureInput> = fc.record(
  {
    title: text,
    message: text,
    exception,
    tags: members,
    user_id: text,
    breadcrumbs: fc.array(fc.record({ at: fc.constant('2026-01-02T03:04:05Z'), message: text, data: members }), {
      maxLength: 3,
    }),
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

test('members of the draft that are clean by what was sent stay as they are when scrubbed', () => {
  let clean = 0;
  fc.assert(
    fc.property(input, (sent) => {
      const source = JSON.stringify(sent);
      const { grouping, ...draft } = draftOf(sent, 0, [], source);
      const names = cleanMembers(source);
      expect(scrubEvent(draft, names)).toEqual(scrubEvent(draft));
      clean += names.size;
    }),
    { numRuns: 3_000 },
  );
  expect(clean).toBeGreaterThan(3_000);
});
