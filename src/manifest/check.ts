// Validation rules of the manifest; a service whose manifest breaks one does not start. One function per rule, listed below, each with a test
// that shows it failing. Schemas and examples are checked in check-examples.ts.
import { loadConfig } from '../config/config.ts';
import { Variables } from '../config/variables.ts';
import { admission } from '../core/admission.ts';
import { type Capability, pathParameters, toolName } from '../kit/capability.ts';
import type { Module } from '../kit/module.ts';
import { type Offer, releasedEvents } from '../kit/offer.ts';
import { patternWords } from '../lib/pattern-words.ts';
import { checkEventExamples, checkSchemasAndExamples } from './check-examples.ts';
import { offerFaults } from './compose.ts';
import { eventFaults } from './events.ts';
import { asJsonSchema, fieldsWithin } from './json-schema.ts';
import { untoldSecrets } from './secret-fields.ts';

interface Listed {
  readonly module: Module;
  readonly capability: Capability;
}

/** Answers what is wrong with it, as predicates that follow "queue.publish: "; nothing when the rule is kept. */
type CapabilityRule = (listed: Listed, offer: Offer) => readonly string[];

const TOOL_NAME_CHARACTERS_MAX = 64;
const capabilityRules: readonly CapabilityRule[] = [
  pathIsSound,
  moduleOwnsId,
  pathParametersAreFields,
  priceIsInBook,
  errorsAreCatalogued,
  eventsAreCatalogued,
  everythingIsDescribed,
  listsHaveItems,
  keyIsTheGateways,
  bodyLimitIsSound,
  toolNameIsShort,
  changesHaveNoDefaults,
];

/** Every rule that `modules` break, as clear sentences; empty when the manifest is sound. `quick` leaves schemas and examples out. */
export function checkManifest(
  modules: readonly Module[],
  offer: Offer,
  thoroughness: 'thorough' | 'quick' = 'thorough',
): string[] {
  const listed: Listed[] = modules.flatMap((module) =>
    module.capabilities.map((capability) => ({ module, capability })),
  );
  const ofCapabilities = listed.flatMap((each) =>
    capabilityRules.flatMap((rule) => rule(each, offer).map((fault) => `${each.capability.id}: ${fault}`)),
  );
  return [
    ...repeatedNames(modules.map((module) => module.name)).map((name) => `module ${name} is listed more than once`),
    ...repeatedNames(listed.map(({ capability }) => capability.id)).map(
      (id) => `the id ${id} belongs to more than one capability`,
    ),
    ...repeatedNames(listed.map(({ capability }) => route(capability))).map(
      (at) => `${at} belongs to more than one capability`,
    ),
    ...repeatedNames([...new Set(listed.map(({ capability }) => capability.id))].map(toolName)).map(
      (name) => `the tool ${name} belongs to more than one capability`,
    ),
    ...ofCapabilities,
    ...modules.flatMap(rawRoutesAreOfTheModule),
    ...offerFaults(modules),
    ...eventFaults(modules),
    ...settingFaults(modules),
    ...(thoroughness === 'quick'
      ? []
      : [
          ...checkSchemasAndExamples(listed.map(({ capability }) => capability)),
          ...checkEventExamples(releasedEvents(offer)),
          ...listed.flatMap(({ capability }) => [...unmarkedSecrets(capability), ...wordlessPatterns(capability)]),
        ]),
  ];
}

/** A default of a change would set what was not sent. */
function changesHaveNoDefaults({ capability: { method, input } }: Listed): string[] {
  if (method !== 'PATCH') return [];
  return Object.entries(asJsonSchema(input).properties ?? {})
    .filter(([, schema]) => schema.default !== undefined)
    .map(([field]) => `a PATCH sets only what is sent, and ${field} has a default`);
}

/** A refusal tells the words in place of the pattern. */
function wordlessPatterns({ id, input }: Capability): string[] {
  const faults = new Set<string>();
  JSON.stringify(input, (name, value) => {
    if (name === 'pattern' && typeof value === 'string' && patternWords(value) === undefined)
      faults.add(`${id}: the pattern ${value} has no words: give it some by patternWithWords`);
    return value;
  });
  return [...faults];
}

function unmarkedSecrets(capability: Capability): string[] {
  return untoldSecrets(capability).map(
    (field) =>
      `${capability.id}: ${field} reads like a secret: make it writeOnly, so that the request log never keeps it (or name it in manifest/secret-fields.ts)`,
  );
}

/** Two paths that differ only in the names of their parameters are one route. */
function route({ method, path }: Capability): string {
  return `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`;
}

/** What a raw route asks scopes and rates of must be its own module's. */
function rawRoutesAreOfTheModule({ name, capabilities, rawRoutes = [], socketRoutes = [] }: Module): string[] {
  return [...rawRoutes, ...socketRoutes]
    .filter((route) => route.capability !== null && !capabilities.some(({ id }) => id === route.capability))
    .map(
      (route) => `the raw route ${route.name} names ${route.capability}, which is no capability of the module ${name}`,
    );
}

/** Whatever a module reads from the environment is read by it alone. */
function settingFaults(modules: readonly Module[]): string[] {
  const owners = new Map<string, string>();
  for (const name of loadConfig({}).settings(({ names }) => names)) owners.set(name, 'core');
  return modules.flatMap((module) => {
    const variables = new Variables({});
    module.settings?.(variables);
    return [...variables.names].flatMap((name) => {
      const owner = owners.get(name);
      owners.set(name, module.name);
      return owner === undefined ? [] : [`the variable ${name} is read by ${owner} and by ${module.name}`];
    });
  });
}

function repeatedNames(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function pathIsSound({ capability: { path } }: Listed): string[] {
  return /^\/v1(\/([a-z0-9_]+|\{[a-z_]+\}))+$/.test(path)
    ? []
    : [`the path ${path} is not /v1 followed by lower-case segments and {parameters}`];
}

function moduleOwnsId({ module, capability }: Listed): string[] {
  const owned = capability.id === module.name || capability.id.startsWith(`${module.name}.`);
  return owned ? [] : [`the id does not begin with the name of its module, ${module.name}`];
}

function pathParametersAreFields({ capability }: Listed): string[] {
  const { properties, required } = asJsonSchema(capability.input);
  return pathParameters(capability.path).flatMap((name) => {
    if (properties?.[name] === undefined) return [`the path parameter ${name} is not a field of the input`];
    return required?.includes(name) ? [] : [`the path parameter ${name} is not a required field of the input`];
  });
}

function priceIsInBook({ capability: { price, laterPrices = [] } }: Listed, { prices }: Offer): string[] {
  const named = price === 'free' ? laterPrices : [price, ...laterPrices];
  return named
    .filter((name) => !Object.hasOwn(prices.prices, name))
    .map((name) => `the price book ${prices.version} has no entry ${name}`);
}

function errorsAreCatalogued({ capability }: Listed, { problems }: Offer): string[] {
  return capability.errors
    .filter((code) => !Object.hasOwn(problems, code))
    .map((code) => `the error ${code} is not in the catalogue`);
}

function eventsAreCatalogued({ capability }: Listed, { events }: Offer): string[] {
  const types = new Set(events.map(({ type }) => type));
  return capability.events
    .filter((type) => !types.has(type))
    .map((type) => `the event ${type} is not in the catalogue`);
}

function everythingIsDescribed({ capability }: Listed): string[] {
  const blank = (text: unknown) => typeof text !== 'string' || text.trim() === '';
  const undescribed = fieldsWithin(asJsonSchema(capability.input)).filter(({ schema }) => blank(schema.description));
  return [
    ...(blank(capability.summary) ? ['it has no summary'] : []),
    ...(blank(capability.description) ? ['it has no description'] : []),
    ...undescribed.map(({ path }) => `the input field ${path} has no description`),
  ];
}

function keyIsTheGateways({ capability }: Listed): string[] {
  return Object.hasOwn(capability.input.properties, 'idempotency_key')
    ? ['idempotency_key must not be an input field: the gateway takes it out of the request']
    : [];
}

/** What clients of models take as the name of a tool. */
function toolNameIsShort({ capability: { id } }: Listed): string[] {
  return id.length <= TOOL_NAME_CHARACTERS_MAX
    ? []
    : [`a tool's name has at most ${TOOL_NAME_CHARACTERS_MAX} characters`];
}

/** What takes long to read is read in a thread, or weighed by a rate, or not taken. */
function bodyLimitIsSound({ capability }: Listed): string[] {
  if (capability.method === 'GET') return capability.bodyBytesMax === undefined ? [] : ['a GET takes no body'];
  const { bodyBytesMax = admission.call.bodyBytesMax, bulk } = capability;
  const most = bodyBytesMost(capability);
  if (!Number.isInteger(bodyBytesMax) || bodyBytesMax < 1) return [`${bodyBytesMax} is no body limit in bytes`];
  if (bulk !== undefined || bodyBytesMax <= most) return [];
  return [`its body may have ${bodyBytesMax} bytes, but without \`bulk\` at most ${most}`];
}

function bodyBytesMost({ unlimited, price }: Capability): number {
  const { freeBodyBytesMax, readHereBytesMax, ratedBodyBytesMax } = admission.call;
  if (unlimited === true) return freeBodyBytesMax;
  return price === 'free' ? ratedBodyBytesMax : readHereBytesMax;
}

/** Whatever name the specification gives the entries of a list, they stand under `items` too (contract §1). */
function listsHaveItems({ capability }: Listed): string[] {
  const { properties = {}, required = [] } = asJsonSchema(capability.output);
  if (properties.next_cursor === undefined) return [];
  const isMissing = (name: string, type: string) =>
    properties[name]?.type !== type || (required.includes('next_cursor') && !required.includes(name));
  return [
    ...(isMissing('items', 'array') ? ['its answer is a list without `items`'] : []),
    ...(isMissing('has_more', 'boolean') ? ['its answer is a list without `has_more`'] : []),
  ];
}
