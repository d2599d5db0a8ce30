// /llms/{module}.txt: one module for a language model: a line for each call, two worked examples, limits, errors. When space runs out, links
// are cut first, then advice, then bounds of fields and fields of answers; never a field or its type.
import { moduleOf } from '../../../core/callers/scopes.ts';
import type { Capability } from '../../../kit/capability.ts';
import type { Module } from '../../../kit/module.ts';
import { problemOf } from '../../../kit/offer.ts';
import { onceFor } from '../../../lib/once.ts';
import { limitsOf, pricingOf } from '../../../manifest/describe.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { queryOf, streamsOf } from '../../../manifest/streams.ts';
import { type Field, fieldsAnswered, fieldsOf } from '../fields.ts';
import { priceInWords } from '../price-in-words.ts';
import { oneLine } from '../shorten.ts';
import { fitting, moduleTokensMax, SIZE } from './sized.ts';
import { workedExample } from './worked.ts';

const DOCS = '/docs/errors/';

interface Level {
  readonly links: boolean;
  readonly advice: boolean;
  /** Places and bounds beside types; `cursor` and `limit` of lists. */
  readonly bounds: boolean;
  /** Fields of an answer that are named, at most. */
  readonly answers: number;
  /** Ids beside paths, and what errors mean: an agent can do without both. */
  readonly names: boolean;
}

const levels: readonly Level[] = [
  { links: true, advice: true, bounds: true, answers: 40, names: true },
  { links: false, advice: true, bounds: true, answers: 40, names: true },
  { links: false, advice: false, bounds: true, answers: 40, names: true },
  { links: false, advice: false, bounds: true, answers: 12, names: true },
  { links: false, advice: false, bounds: true, answers: 6, names: true },
  { links: false, advice: false, bounds: true, answers: 3, names: true },
  { links: false, advice: false, bounds: false, answers: 6, names: true },
  { links: false, advice: false, bounds: false, answers: 6, names: false },
  { links: false, advice: false, bounds: false, answers: 3, names: false },
  { links: false, advice: false, bounds: false, answers: 2, names: false },
];

/** Markdown text. */
export function renderModule(manifest: Manifest, module: Module, baseUrl: string): string {
  return fitting(levels, moduleTokensMax, (level) =>
    [
      head(module, baseUrl),
      `## Calls\n\n${legend(baseUrl, level)}\n\n${module.capabilities.map((each) => line(manifest, each, baseUrl, level)).join('\n')}`,
      streams(module, level),
      workedExamples(manifest, module),
      limits(module),
      errors(manifest, module, level),
      events(module),
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
  );
}

/** ` Clients: …` behind a sentence; nothing where there are none. */
/** `isBrief`: without what each is for. */
export function clientsInWords({ clients = [] }: Module, isBrief = false): string {
  if (clients.length === 0) return '';
  const each = ({ client, address, use }: (typeof clients)[number]) =>
    isBrief ? client.replace(/ \(.*\)$/, '') : `${client} at ${address} (${use})`;
  return ` Clients: ${clients.map(each).join('; ')}.`;
}

function head(module: Module, baseUrl: string): string {
  const clients = clientsInWords(module);
  return `# Quartermaster: ${module.name}

> ${module.summary} This document takes ${SIZE} tokens. How to call, and the other modules: ${baseUrl}/llms.txt${clients === '' ? '' : `\n\nOther protocols.${clients} {base_url} is ${baseUrl}.`}`;
}

function legend(baseUrl: string, { bounds, names }: Level): string {
  const id = names ? 'id, ' : '';
  const named = names
    ? ''
    : ' Its id is its path without /v1 and parameters, with dots. Scopes are those of the module. What names no price is free.';
  const field = `${bounds ? '`name place type`' : '`name type`, those not in the path in the query of GET and DELETE and else in the body'}; \`*\` marks required ones and \`=\` the default`;
  const lists = bounds ? '' : ' Lists take cursor and limit too.';
  return `Each line: ${id}method and path below ${baseUrl}, (price; scope; \`key\`: takes an idempotency key), what it does, its fields (${field}), and behind → fields of the answer's data.${lists}${named} All of them: GET /v1/discovery/{capability}.`;
}

function line(manifest: Manifest, capability: Capability, baseUrl: string, level: Level): string {
  const price = priceInWords(pricingOf(capability, manifest.prices));
  const traits = [
    ...(level.names || price !== 'free' ? [price] : []),
    level.names ? `${moduleOf(capability.id)}:${capability.scope}` : capability.scope,
    ...(capability.idempotent ? ['key'] : []),
    ...(capability.destructive === true ? ['destructive'] : []),
  ].join('; ');
  const fields = fieldsBothWays(capability).fields.filter(({ name: of }) => level.bounds || !OF_LISTS.has(of));
  const listed = fields.length === 0 ? '' : ` Fields: ${fields.map((field) => fieldInWords(field, level)).join(', ')}.`;
  const name = level.links ? `[${capability.id}](${baseUrl}/docs/capabilities/${capability.id}.md)` : capability.id;
  const call = `${capability.method} ${capability.path} (${traits}). ${oneLine(capability.summary)}${listed}`;
  return `- ${level.names ? `${name}: ` : ''}${call}${answerInWords(capability, level)}`;
}

/** What answers as it happens. */
function streams(module: Module, level: Level): string {
  const rows = streamsOf([module]).map((stream) => {
    const fields = fieldsOf(queryOf(stream)).map((field) => fieldInWords(field, level));
    return `- ${stream.method} ${stream.path} (${stream.scope}). ${oneLine(stream.summary)} Fields: ${fields.join(', ')}. Data: ${stream.event}`;
  });
  return rows.length === 0 ? '' : `## Streams\n\nServer-Sent Events, until you leave.\n\n${rows.join('\n')}`;
}

const OF_LISTS = new Set(['cursor', 'limit']);

function fieldInWords(field: Field, { bounds }: Level): string {
  const name = `${field.name}${field.required ? '*' : ''}`;
  const fallback = field.default === undefined ? '' : ` =${field.default}`;
  return bounds
    ? `${name} ${field.in} ${oneLine(field.shortType)}${fallback}`
    : `${name} ${oneLine(field.bareType)}${fallback}`;
}

/** Of a list the fields of its items. */
function answerInWords(capability: Capability, { answers }: Level): string {
  // Short on room, only what a write answers: whoever reads sees it.
  if (answers <= 2 && ['GET', 'DELETE'].includes(capability.method)) return '';
  const { answered, isList } = fieldsBothWays(capability);
  const shown = answered.slice(0, answers).join(', ');
  if (shown === '') return '';
  return isList ? ` → items[] {${shown}}` : ` → ${shown}`;
}

interface FieldsBothWays {
  readonly fields: readonly Field[];
  /** What is shown once first, then its id and links, then what was not sent. */
  readonly answered: readonly string[];
  /** The fields are those of items. */
  readonly isList: boolean;
}

/** They are asked for again for every level. */
const fieldsBothWays = onceFor((capability: Capability): FieldsBothWays => {
  const fields = fieldsOf(capability).filter((field) => field.name !== 'idempotency_key');
  const all = fieldsAnswered(capability).map(({ path }) => path);
  const items = all.filter((path) => /^items\[\]\.[^.[]+$/.test(path)).map((path) => path.slice('items[].'.length));
  const own = all.filter((path) => !/[.[]/.test(path));
  const untold = ['account_id', 'project_id', 'items', 'next_cursor', 'has_more'];
  const names = (items.length > 0 ? items : own).filter((name) => !untold.includes(name));
  const sent = new Set(fields.map(({ name }) => name));
  const id = names.find((name) => /(?:^|_)id$/.test(name));
  const rank = (name: string) => {
    if (/secret|handle$/.test(name)) return 0;
    if (name === id || /(?:^|_)url$/.test(name)) return 1;
    return sent.has(name) ? 3 : 2;
  };
  const answered = names.toSorted((one, other) => rank(one) - rank(other));
  return { fields, answered, isList: items.length > 0 };
});

function workedExamples(manifest: Manifest, { capabilities, shownBy }: Module): string {
  const shown = shownBy?.map((id) => manifest.byId.get(id)) ?? capabilities.slice(0, 2);
  const examples = shown.flatMap((each) => (each === undefined ? [] : [workedExample(manifest, each)]));
  return `## Worked examples

Requests in order, each with its body; \`$0.message_id\` stands for \`data.message_id\` of the first answer, \`$1.items[0].message_id\` for a part of the second.

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
  if (!level.names) return `## Errors\n\n${[...codes].join(', ')}: GET ${DOCS}{code}.md.`;
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
