// /llms/{module}.txt: one module for a language model: a line for each call, two worked examples, limits, errors. What is short on room
// loses links first, then advice, then types.
import { moduleOf } from '../../../core/scopes.ts';
import type { Capability } from '../../../kit/capability.ts';
import type { Module } from '../../../kit/module.ts';
import { problemOf } from '../../../kit/offer.ts';
import { limitsOf, pricingOf } from '../../../manifest/describe.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { type Field, fieldsOf } from '../fields.ts';
import { priceInWords } from '../price-in-words.ts';
import { oneLine } from '../shortened.ts';
import { fitting, moduleTokensMax, SIZE } from './sized.ts';
import { workedExample } from './worked.ts';

interface Level {
  readonly links: boolean;
  readonly advice: boolean;
  readonly types: boolean;
}

const levels: readonly Level[] = [
  { links: true, advice: true, types: true },
  { links: false, advice: true, types: true },
  { links: false, advice: false, types: true },
  { links: false, advice: false, types: false },
];

/** Markdown text. */
export function renderModule(manifest: Manifest, module: Module, baseUrl: string): string {
  return fitting(levels, moduleTokensMax, (level) =>
    [
      head(module, baseUrl),
      `## Calls\n\n${legend(baseUrl)}\n\n${module.capabilities.map((each) => line(manifest, each, baseUrl, level)).join('\n')}`,
      worked(manifest, module),
      limits(module),
      errors(manifest, module, level),
      events(module),
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
  );
}

/** ` Clients: …` behind a sentence; nothing where there are none. */
export function clientsInWords({ clients = [] }: Module): string {
  if (clients.length === 0) return '';
  return ` Clients: ${clients.map(({ client, address, use }) => `${client} at ${address} (${use})`).join('; ')}.`;
}

function head(module: Module, baseUrl: string): string {
  const clients = clientsInWords(module);
  return `# Quartermaster: ${module.name}

> ${module.summary} This document takes ${SIZE} tokens. How to call, and the other modules: ${baseUrl}/llms.txt${clients === '' ? '' : `\n\nOther protocols.${clients} {base_url} is ${baseUrl}.`}`;
}

function legend(baseUrl: string): string {
  return `Each line: id, method and path below ${baseUrl}, (price; scope; \`key\`: takes an idempotency key), what it does, then its fields as \`name place type\`; \`*\` marks required ones and \`=\` the default. The whole schema: GET /v1/discovery/{capability}.`;
}

function line(manifest: Manifest, capability: Capability, baseUrl: string, level: Level): string {
  const traits = [
    priceInWords(pricingOf(capability, manifest.prices)),
    `${moduleOf(capability.id)}:${capability.scope}`,
    ...(capability.idempotent ? ['key'] : []),
    ...(capability.destructive === true ? ['destructive'] : []),
  ].join('; ');
  const fields = fieldsOf(capability).filter((field) => field.name !== 'idempotency_key');
  const listed = fields.length === 0 ? 'none' : fields.map((field) => fieldInWords(field, level)).join(', ');
  const name = level.links ? `[${capability.id}](${baseUrl}/docs/capabilities/${capability.id}.md)` : capability.id;
  return `- ${name}: ${capability.method} ${capability.path} (${traits}). ${oneLine(capability.summary)} Fields: ${listed}.`;
}

function fieldInWords(field: Field, { types }: Level): string {
  const name = `${field.name}${field.required ? '*' : ''}`;
  if (!types) return name;
  const fallback = field.default === undefined ? '' : ` =${field.default}`;
  return `${name} ${field.in} ${oneLine(field.type)}${fallback}`;
}

function worked(manifest: Manifest, { capabilities, shownBy }: Module): string {
  const shown = shownBy?.map((id) => manifest.byId.get(id)) ?? capabilities.slice(0, 2);
  const examples = shown.flatMap((each) => (each === undefined ? [] : [workedExample(manifest, each)]));
  return `## Worked examples

Requests in order, each with its body; \`$0.id\` stands for \`data.id\` of the first answer, \`$1.items[0].id\` for a part of the second.

${examples.join('\n\n')}`;
}

/** What most calls have in common is said once, and calls with the same limits stand together. */
function limits({ capabilities }: Module): string {
  const said = capabilities.map((capability) => ({
    call: capability.id,
    sentences: Object.entries(limitsOf(capability)).map(([name, sentence]) => `${name}: ${oneLine(sentence)}`),
  }));
  const counts = Map.groupBy(
    said.flatMap(({ sentences }) => sentences),
    (sentence) => sentence,
  );
  const common = [...counts.values()].sort((left, right) => right.length - left.length)[0] ?? [];
  const usual = common.length > 2 ? common[0] : undefined;
  const own = said.map(({ call, sentences }) => ({
    call,
    words: sentences.filter((sentence) => sentence !== usual).join(' '),
  }));
  const rows = [...Map.groupBy(own, ({ words }) => words)]
    .filter(([words]) => words !== '')
    .map(([words, calls]) => `- ${calls.map(({ call }) => call).join(', ')}: ${words}`);
  const all = usual === undefined ? rows : [`- Where nothing else is said: ${usual}`, ...rows];
  return all.length === 0 ? '' : `## Limits\n\n${all.join('\n')}`;
}

/** Its own codes, and those of others that its calls name; what every call may answer stands in the documentation. */
function errors(manifest: Manifest, { capabilities, problems = {} }: Module, level: Level): string {
  const codes = new Set([...Object.keys(problems), ...capabilities.flatMap((each) => each.errors)]);
  if (codes.size === 0) return '';
  const rows = [...codes].map((code) => {
    const { status, retryable, title, advice } = problemOf(manifest, code);
    return `- ${code} (${status}${retryable ? ', retryable' : ''}): ${oneLine(level.advice ? `${title} ${advice}` : title)}`;
  });
  return `## Errors\n\n${rows.join('\n')}`;
}

function events({ capabilities }: Module): string {
  const types = new Set(capabilities.flatMap((each) => each.events));
  return types.size === 0 ? '' : `## Events\n\n${[...types].join(', ')}: GET /v1/discovery/event/{type}.`;
}
