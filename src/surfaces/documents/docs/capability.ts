// The documentation page of one capability: description, request, answer, errors.

import { moduleOf } from '../../../core/callers/scopes.ts';
import { KEY_FIELD } from '../../../core/idempotency/fingerprint.ts';
import type { Capability, CapabilityExample } from '../../../kit/capability.ts';
import { problemOf } from '../../../kit/offer.ts';
import { descriptionOf, limitsOf, summarizeCapability } from '../../../manifest/describe.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { fieldsAnswered, fieldsOf, typeInWords } from '../fields.ts';
import { guideOf } from '../guides/guides.ts';
import { priceInWords } from '../price-in-words.ts';
import { samplesOf } from '../samples/samples.ts';
import { shorten } from '../shorten.ts';
import { type Block, type Cell, code, type DocsPage, h1, h2, prose } from './page.ts';
import { isTriable, tryAddress } from './triable.ts';

/** How much of it is shown. */
interface Level {
  readonly examples: number;
  /** The calls that lead to an example, and what its answer contains. */
  readonly around: boolean;
  /** Fields within fields of the answer. */
  readonly nested: boolean;
  /** What all calls have alike, and links to single errors and events. */
  readonly common: boolean;
  /** Characters of what is said of a field; 0: nothing, and nothing of fields within fields or of errors. */
  readonly meaning: number;
  /** The same of a field of the answer. */
  readonly answered: number;
}

const whole: Level = {
  examples: Number.POSITIVE_INFINITY,
  around: true,
  nested: true,
  common: true,
  meaning: Number.POSITIVE_INFINITY,
  answered: Number.POSITIVE_INFINITY,
};
const brief = { examples: 1, around: false, nested: false, common: false };
const shorter: readonly Level[] = [
  { ...whole, examples: 1 },
  { ...whole, ...brief, around: true, nested: true },
  { ...whole, ...brief, around: true, nested: true, meaning: 120, answered: 120 },
  { ...brief, meaning: 120, answered: 120 },
  { ...brief, meaning: 120, answered: 40 },
  { ...brief, meaning: 120, answered: 0 },
  { ...brief, meaning: 80, answered: 0 },
  { ...brief, meaning: 60, answered: 0 },
  { ...brief, meaning: 40, answered: 0 },
  { ...brief, meaning: 0, answered: 0 },
];

export function capabilityPage(manifest: Manifest, capability: Capability, baseUrl: string): DocsPage {
  const blocksAt = (level: Level) => blocksOf(manifest, capability, { baseUrl, level });
  return {
    title: capability.id,
    blocks: blocksAt(whole),
    shorter: shorter.map((level) => () => blocksAt(level)),
  };
}

interface Shown {
  readonly baseUrl: string;
  readonly level: Level;
}

function blocksOf(manifest: Manifest, capability: Capability, shown: Shown): readonly Block[] {
  const module = moduleOf(capability.id);
  return [
    { kind: 'up', link: { text: module, to: `/docs/modules/${module}` } },
    h1(capability.id),
    { kind: 'route', text: `${capability.method} ${capability.path}` },
    prose(descriptionOf(capability, manifest.deployment)),
    traits(manifest, capability, shown.level),
    ...(isTriable(capability) ? [{ kind: 'try', path: tryAddress(capability), text: 'Try it' } satisfies Block] : []),
    ...examples(manifest, capability, shown),
    ...request(capability, shown.level),
    ...answer(capability, shown.level),
    ...limits(capability),
    ...events(capability, shown.level),
    ...errors(manifest, capability, shown.level),
  ];
}

function traits(manifest: Manifest, capability: Capability, { common }: Level): Block {
  const summary = summarizeCapability(capability, manifest);
  const guide = guideOf(capability.id);
  const rows: [string, Cell][] = [
    ['Price', priceInWords(summary.pricing)],
    ['Scope', summary.scope],
    ['Idempotency key', capability.idempotent ? 'accepted; kept for at least 24 hours' : 'not accepted'],
    ...(capability.destructive === true
      ? [['Destructive', 'removes or ends something permanently'] satisfies [string, Cell]]
      : []),
    ...(common
      ? ([
          ['Status', summary.status],
          ['Region', summary.regions.join(', ')],
        ] satisfies [string, Cell][])
      : []),
    ...(guide === undefined
      ? []
      : [['Guide', { text: guide.title, to: `/docs/guides/${guide.name}` }] satisfies [string, Cell]]),
  ];
  return { kind: 'terms', rows };
}

function request(capability: Capability, level: Level): Block[] {
  const fields = fieldsOf(capability).filter(
    ({ name }) => (level.meaning > 0 || !/[.[]/.test(name)) && (level.common || name !== KEY_FIELD),
  );
  if (fields.length === 0) return [h2('Request'), prose('No fields.')];
  const rows = fields.map((field) => ({
    name: field.name,
    facts: [
      ...(level.common || field.in !== 'body' ? [field.in] : []),
      field.type,
      field.required ? 'required' : field.default === undefined ? 'optional' : `default ${code(field.default)}`,
    ],
    text: meaningOf(field.description, level.meaning),
  }));
  return [h2('Request'), { kind: 'entries', rows }];
}

function examples(manifest: Manifest, capability: Capability, { baseUrl, level }: Shown): Block[] {
  const each = capability.examples.slice(0, level.examples).flatMap((example): Block[] => {
    const shown = level.around ? example : { title: example.title, input: example.input };
    return [
      { kind: 'heading', level: 3, text: example.title },
      { kind: 'samples', samples: samplesOf(manifest, capability, shown, baseUrl) },
      ...expectedAnswer(shown),
    ];
  });
  return [h2('Examples'), ...each];
}

/** Where it would be cut to nothing, the name says enough. */
function meaningOf(description: string, charactersMax: number): string {
  return charactersMax === 0 ? '' : shorten(description, charactersMax);
}

/** What the tests find in its answer. */
function expectedAnswer({ expect }: CapabilityExample): Block[] {
  if (expect === undefined) return [];
  const text = JSON.stringify({ ok: true, data: expect }, null, 2);
  return [prose('The answer contains, among other fields:'), { kind: 'code', language: 'json', text }];
}

function answer(capability: Capability, level: Level): Block[] {
  const fields = fieldsAnswered(capability).filter(({ path }) => level.nested || !/[.[]/.test(path));
  if (fields.length === 0) return [];
  const rows = fields.map(({ path, schema, required }) => ({
    name: path,
    facts: [typeInWords(schema), ...(required ? [] : ['may be absent'])],
    text: meaningOf(schema.description ?? '', level.answered),
  }));
  const more = level.nested ? [] : [prose('All fields: `GET /v1/discovery/{capability}`.')];
  return [h2('Answer: data'), { kind: 'entries', rows }, ...more];
}

function limits(capability: Capability): Block[] {
  const rows = Object.entries(limitsOf(capability));
  return rows.length === 0 ? [] : [h2('Limits'), { kind: 'terms', rows }];
}

function events(capability: Capability, { common }: Level): Block[] {
  if (capability.events.length === 0) return [];
  if (!common) return [h2('Events'), prose(`${capability.events.map(code).join(', ')}.`)];
  const links = capability.events.map((type) => ({ text: type, to: `/docs/events/${type}`, isCode: true }));
  return [h2('Events'), { kind: 'links', links }];
}

/** Its own; what every call can fail with stands on one page for all. */
function errors(manifest: Manifest, capability: Capability, level: Level): Block[] {
  const rows = capability.errors.map((failure) => {
    const { status, title } = problemOf(manifest, failure);
    return {
      name: level.common ? { text: failure, to: `/docs/errors/${failure}`, isCode: true } : failure,
      facts: [String(status)],
      text: title,
    };
  });
  if (level.meaning === 0 && rows.length > 0)
    return [h2('Errors'), prose(`${capability.errors.map(code).join(', ')}, and those of every call.`)];
  const common: Block = { kind: 'links', links: [{ text: 'Errors of every call', to: '/docs/errors' }] };
  return [h2('Errors'), ...(rows.length === 0 ? [] : [{ kind: 'entries', rows } satisfies Block]), common];
}
