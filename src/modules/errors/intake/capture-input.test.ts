import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scrubEvent } from '../scrub/scrub.ts';
import { type CaptureInput, draftOf, inspectSource } from './capture-input.ts';
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
const mostlyPlain = inputOf(
  fc.constantFrom(...secrets.slice(0, 1), ...Array.from({ length: 20 }, () => plain).flat()),
  fc.constantFrom('note', 'at', 'vars'),
);

test('members of the draft that are clean by what was sent stay as they are when scrubbed', () => {
  let clean = 0;
  fc.assert(
    fc.property(hiding, (sent) => {
      const source = JSON.stringify(sent);
      const { grouping, ...draft } = draftOf(sent, [], source);
      const names = inspectSource(source, sent).clean;
      expect(scrubEvent(draft, names)).toEqual(scrubEvent(draft));
      clean += names.size;
    }),
    { numRuns: 1_500 },
  );
  expect(clean).toBeGreaterThan(1_500);
});

test('whether an event is stored as it was sent or in parts makes no difference to what is read', () => {
  let asSent = 0;
  fc.assert(
    fc.property(fc.oneof(hiding, mostlyPlain), fc.constantFrom(undefined, 1), (sent, indent) => {
      const source = JSON.stringify(sent, null, indent);
      const draft = draftOf(sent, [], source);
      const findings = inspectSource(source, sent);
      const [found, plain] = [readyToStore(draft, 'k', findings), readyToStore(draft, 'k')];
      const read = (detail: unknown) => unpackLine(Buffer.from(detail as string), 0, 0);
      expect({ ...found, detail: read(found.detail) }).toEqual({ ...plain, detail: read(plain.detail) });
      if (findings.storable === null) expect(found.detail).toEqual(plain.detail);
      else asSent += 1;
    }),
    { numRuns: 1_500 },
  );
  expect(asSent).toBeGreaterThan(100);
});

test('an event with anything to hide, to clean or on lines of its own is not stored as it was sent', () => {
  const storable = (sent: CaptureInput, indent?: number) =>
    inspectSource(JSON.stringify(sent, null, indent), sent).storable;
  const plain = { message: 'refused', extra: { note: 'é "quoted"\n\t' } };
  for (let time = 0; time < 3; time += 1) {
    expect(storable(plain)).toBe(JSON.stringify(plain));
    expect(storable(plain, 2)).toBeNull();
    expect(storable({ message: 'password=swordfish' })).toBeNull();
    expect(storable({ ...plain, extra: { password: 'swordfish' } })).toBeNull();
    expect(storable({ ...plain, fingerprint: ['a', '4111 1111 1111 1111'] })).toBeNull();
    expect(storable({ message: 'NUL \0' })).toBeNull();
  }
});
