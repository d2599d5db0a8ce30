// The documentation page of one capability: what it does, how to call it, what it answers, what can go wrong.
import { moduleOf } from '../../../core/scopes.ts';
import type { Capability } from '../../../kit/capability.ts';
import { problemOf } from '../../../kit/offer.ts';
import { descriptionOf, limitsOf, summarizeCapability } from '../../../manifest/describe.ts';
import { failureCodes } from '../../../manifest/failures.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { curlOfExample } from '../curl.ts';
import { fieldsAnswered, fieldsOf, typeInWords } from '../fields.ts';
import { priceInWords } from '../price-in-words.ts';
import { type Block, code, type DocsPage, h1, h2, prose } from './page.ts';

export function capabilityPage(manifest: Manifest, capability: Capability, baseUrl: string): DocsPage {
  const module = moduleOf(capability.id);
  const blocks: Block[] = [
    { kind: 'up', link: { text: module, to: `/docs#${module}` } },
    h1(capability.id),
    { kind: 'route', text: `${capability.method} ${capability.path}` },
    prose(descriptionOf(capability, manifest.deployment)),
    traits(manifest, capability),
    ...request(capability),
    ...examples(manifest, capability, baseUrl),
    ...answer(capability),
    ...limits(capability),
    ...events(capability),
    ...errors(manifest, capability),
  ];
  return { title: capability.id, blocks };
}

function traits(manifest: Manifest, capability: Capability): Block {
  const summary = summarizeCapability(capability, manifest);
  const rows: [string, string][] = [
    ['Price', priceInWords(summary.pricing)],
    ['Scope', summary.scope],
    ['Idempotency key', capability.idempotent ? 'taken; kept for 24 hours at least' : 'not taken'],
    ...(capability.destructive === true
      ? [['Destructive', 'it removes or ends something for good'] satisfies [string, string]]
      : []),
    ['Status', summary.status],
    ['Region', summary.regions.join(', ')],
  ];
  return { kind: 'terms', rows };
}

function request(capability: Capability): Block[] {
  const fields = fieldsOf(capability);
  if (fields.length === 0) return [h2('Request'), prose('No fields.')];
  const rows = fields.map((field) => [
    code(field.name),
    field.in,
    field.type,
    field.required ? 'required' : field.default === undefined ? 'optional' : `default ${code(field.default)}`,
    field.description,
  ]);
  return [h2('Request'), { kind: 'table', heads: ['Field', 'In', 'Type', 'Presence', 'Meaning'], rows }];
}

function examples(manifest: Manifest, capability: Capability, baseUrl: string): Block[] {
  const each = capability.examples.flatMap((example): Block[] => [
    { kind: 'heading', level: 3, text: example.title },
    { kind: 'code', language: 'sh', text: curlOfExample(manifest, capability, example, baseUrl) },
  ]);
  return [h2('Examples'), ...each];
}

function answer(capability: Capability): Block[] {
  const fields = fieldsAnswered(capability);
  if (fields.length === 0) return [];
  const rows = fields.map(({ path, schema, required }) => [
    code(path),
    typeInWords(schema),
    required ? 'always' : 'may be absent',
    schema.description ?? '',
  ]);
  return [h2('Answer: data'), { kind: 'table', heads: ['Field', 'Type', 'Presence', 'Meaning'], rows }];
}

function limits(capability: Capability): Block[] {
  const rows = Object.entries(limitsOf(capability));
  return rows.length === 0 ? [] : [h2('Limits'), { kind: 'table', heads: ['Limit', 'Rule'], rows }];
}

function events(capability: Capability): Block[] {
  if (capability.events.length === 0) return [];
  const links = capability.events.map((type) => ({ text: type, to: `/docs/events/${type}`, isCode: true }));
  return [h2('Events'), { kind: 'links', links }];
}

function errors(manifest: Manifest, capability: Capability): Block[] {
  const rows = failureCodes(capability).map((failure) => {
    const { status, title } = problemOf(manifest, failure);
    return [{ text: failure, to: `/docs/errors/${failure}` }, String(status), title];
  });
  return [h2('Errors'), { kind: 'table', heads: ['Code', 'Status', 'Meaning'], rows }];
}
