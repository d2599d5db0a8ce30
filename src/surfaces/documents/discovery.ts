// Discovery: the capabilities of this deployment, for an agent with a key (contract, "Discovery, OpenAPI, versioning"). The manifest is
// fixed while the process runs, and rendered once; the health of outside vendors is read at each call.
import { Type } from 'typebox';
import type { Principal } from '../../core/callers/principal.ts';
import { isOperatorsScope, moduleOf, OPERATOR_MODULE } from '../../core/callers/scopes.ts';
import { type Capability, defineCapability } from '../../kit/capability.ts';
import { defineModule, type Module } from '../../kit/module.ts';
import { JsonText } from '../../lib/json-text.ts';
import { usd } from '../../lib/money.ts';
import { nearest } from '../../lib/nearest.ts';
import { type CapabilityDescription, describeCapability } from '../../manifest/describe.ts';
import { ownFailureCodes } from '../../manifest/failures.ts';
import { buildManifest, type Manifest, type ManifestOptions } from '../../manifest/manifest.ts';
import { notBuilt, plannedModules } from '../../manifest/planned/modules.ts';
import { shapeOf } from '../../manifest/shape.ts';
import { type StreamDescription, streamsOf } from '../../manifest/streams.ts';
import { serviceName } from '../../manifest/version.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import type { ListedVendor, Vendors } from '../../routing/vendors.ts';
import { isQuestion, liveOf, narrowedListing, type Question, streamRow, wholeListing } from './discovery-listing.ts';
import { capabilityDetailSchema, discoverySchema, eventDocumentSchema } from './discovery-schemas.ts';
import { type EventDocument, eventDocument } from './event-document.ts';
import { QUERY_CHARACTERS_MAX } from './search.ts';

interface DiscoveryState {
  /** As long as the same vendors are up the whole stays as it is. Whoever is not the operator has no use for the operator's module. */
  listing(withOperators: boolean, question: Question): Promise<JsonText | object>;
  /** Undefined when there is no such capability or stream. */
  detail(id: string, view: View): JsonText | undefined;
  /** One kind of event; undefined when the catalogue has no such type. */
  event(type: string): EventDocument | undefined;
  nearestEvents(type: string): string[];
  /** Why there is none. */
  unknown(id: string): Problem;
}

/** `full`: with the JSON Schema of the answer, all errors, and the payloads of events. */
type View = 'brief' | 'full';

const define = defineCapability<DiscoveryState>();

/** The manifest of `modules` with discovery itself among them. */
export function composeManifest(modules: readonly Module[], options?: ManifestOptions): Manifest {
  const manifest: Manifest = buildManifest([...modules, createDiscoveryModule(() => manifest)], options);
  return manifest;
}

/** `getManifest` is called at the first question, when the manifest that holds this module exists. */
export function createDiscoveryModule(getManifest: () => Manifest): Module {
  return defineModule<DiscoveryState>({
    name: 'discovery',
    summary: 'What this service offers: every capability with its price, schemas, errors and examples.',
    status: 'ga',
    shownBy: ['discovery.capability', 'discovery.event'],
    capabilities: [listCapabilities, describeOne, describeEvent],
    start: ({ vendors, baseUrl }) => createState(getManifest, vendors, baseUrl),
  });
}

function createState(getManifest: () => Manifest, vendors: Vendors, baseUrl: string): DiscoveryState {
  const listings = new Map<boolean, { readonly text: JsonText; readonly revision: number }>();
  const described = new Map<string, CapabilityDocument>();
  return {
    async listing(withOperators, question) {
      const isShown = (module: string) => withOperators || module !== OPERATOR_MODULE;
      if (isQuestion(question)) return narrowedListing(getManifest(), vendors, isShown, question);
      const { revision } = vendors.health;
      const known = listings.get(withOperators);
      if (known?.revision === revision) return known.text;
      const text = new JsonText(JSON.stringify(wholeListing(getManifest(), vendors, isShown)));
      listings.set(withOperators, { text, revision });
      return text;
    },
    event(type) {
      const { events, deployment } = getManifest();
      const found = events.find((event) => event.type === type);
      return found === undefined ? undefined : eventDocument(found, deployment.region);
    },
    nearestEvents: (type) =>
      nearest(
        type,
        getManifest().events.map((event) => event.type),
        3,
      ),
    unknown: (id) => unknownCapability(getManifest(), id),
    detail(id, view) {
      const name = `${view} ${id}`;
      const document = described.get(name) ?? documentOf(getManifest(), id, view, baseUrl);
      if (document === undefined) return undefined;
      described.set(name, document);
      return document.withVendors(vendors.servedBy(id));
    },
  };
}

/** One capability: what does not change while the process runs is written once. */
interface CapabilityDocument {
  /** `outside`: null for what this service does itself. */
  withVendors(outside: readonly ListedVendor[] | null): JsonText;
}

function documentOf(manifest: Manifest, id: string, view: View, baseUrl: string): CapabilityDocument | undefined {
  const capability = manifest.byId.get(id);
  if (capability === undefined) {
    const stream = streamsOf(manifest.modules).find((each) => each.id === id);
    return stream && { withVendors: () => new JsonText(JSON.stringify(streamDocument(stream))) };
  }
  const { vendors_live: own, ...described } = describeCapability(capability, manifest);
  const region = manifest.deployment.region;
  const document = { ...described, also_via: alsoVia(manifest, id, baseUrl) };
  const text = JSON.stringify(
    view === 'full'
      ? { ...document, events: eventsOf(manifest, capability).map((event) => eventDocument(event, region)) }
      : inBrief(document, new Set(ownFailureCodes(capability))),
  ).slice(0, -1);
  const { price_usd } = described.pricing;
  const itself = own.map((vendor) => ({ vendor, region, up: true, models: [], price_usd }));
  return {
    withVendors(outside) {
      const vendors = JSON.stringify(outside === null ? itself : outside.map(listedVendor));
      if (view === 'brief') return new JsonText(`${text},"vendors":${vendors}}`);
      const live = JSON.stringify(outside === null ? own : liveOf(outside));
      return new JsonText(`${text},"vendors_live":${live},"vendors":${vendors}}`);
    },
  };
}

function eventsOf({ events }: Manifest, capability: Capability) {
  return events.filter(({ type }) => capability.events.includes(type));
}

/** What is special of it. `ownCodes`: of errors beside the common ones. */
function inBrief<Whole extends CapabilityDescription>(
  { keywords: _, regions: __, response_schema: schema, errors, ...rest }: Omit<Whole, 'vendors_live'>,
  ownCodes: ReadonlySet<string>,
): object {
  return { ...rest, answer: shapeOf(schema), errors: errors.filter(({ code }) => ownCodes.has(code)) };
}

/** A stream as a capability that is read as it happens. */
function streamDocument({ event, query_schema, ...row }: StreamDescription): object {
  return {
    ...streamRow(row),
    description: `Server-Sent Events. ${event} Send Last-Event-ID to go on after the last one that came.`,
    destructive: false,
    request_schema: query_schema,
    answer: event,
    errors: [],
    examples: [],
    also_via: [],
    events_emitted: [],
    limits: {},
    vendors: [],
  };
}

/** Clients of other services whose calls are calls of the capability too. */
function alsoVia({ modules }: Manifest, id: string, baseUrl: string): object[] {
  const clients = modules.flatMap((module) => module.clients ?? []).filter(({ serves }) => serves.includes(id));
  return clients.map(({ client, address }) => ({ client, address: address.replace('{base_url}', baseUrl) }));
}

function listedVendor({ vendor, region, isUp, models, lowestNanos }: ListedVendor): object {
  return { vendor, region, up: isUp, models, price_usd: usd(lowestNanos) };
}

/** Why there is no capability of that id; `param`: the field that names it. */
export function unknownCapability({ modules, byId }: Manifest, id: string, param = 'capability'): Problem {
  if (plannedModules(modules).has(moduleOf(id))) return notBuilt(moduleOf(id));
  const near = nearest(id, [...byId.keys()], 3);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(', ')}?`;
  return problem('CAPABILITY_NOT_FOUND', {
    param,
    message: `There is no capability ${JSON.stringify(id.slice(0, 128))}.${hint} GET /v1/discovery lists all.`,
  });
}

/** Whether any scope of a key, or session, is of the operator's module. */
function mayOperate({ scopes }: Principal): boolean {
  return scopes?.some(isOperatorsScope) === true;
}

const listCapabilities = define({
  method: 'GET',
  path: '/v1/discovery',
  summary: 'Lists every capability of this service.',
  description:
    'Start here. Answers all modules with their status and all capabilities with method, path, price, needed scope and whether they take ' +
    'an idempotency key; those of the module operator only to its keys. Ask GET /v1/discovery/{capability} for the request and response schema of one of them, and ' +
    'GET /v1/discovery/event/{type} for the payload of an event. With `q`, `module`, `billable`, `limit` or `view` it answers only the capabilities that these leave, ' +
    'and `total`, how many there are without `limit`.',
  keywords: ['list all operations', 'what can this service do', 'api catalog', 'search capabilities'],
  input: Type.Object({
    q: Type.Optional(
      Type.String({
        description: 'What you want to do: `delay a message`. The best come first, 20 of them when `limit` is absent.',
        maxLength: QUERY_CHARACTERS_MAX,
      }),
    ),
    module: Type.Optional(Type.String({ description: 'Only those of this module.', maxLength: 64 })),
    billable: Type.Optional(Type.Boolean({ description: 'Only those that cost money, or only those that are free.' })),
    limit: Type.Optional(Type.Integer({ description: 'At most so many.', minimum: 1, maximum: 100 })),
    view: Type.Optional(Type.Enum(['brief'], { description: '`brief`: of each id, summary and price only.' })),
  }),
  output: discoverySchema,
  anyKey: true,
  examples: [
    { title: 'Find one', input: { q: 'describe a capability', limit: 3, view: 'brief' } },
    { title: 'List every capability', input: {}, expect: { service: serviceName } },
  ],
  run: async ({ ctx, input, state }) => ({ data: await state.listing(mayOperate(ctx.principal), input) }),
});

const describeOne = define({
  id: 'discovery.capability',
  method: 'GET',
  path: '/v1/discovery/{capability}',
  summary: 'Describes one capability.',
  description:
    'Answers everything needed to call the capability: the JSON Schema of the request, the shape of the answer, price, its own errors, examples, events, limits and ' +
    'the vendors that serve it now. Errors that every call may answer with stand in /llms.txt. `view=full` adds these, the JSON Schema of the answer, and the payloads of events. ' +
    'In examples, `before` lists calls to make first, and `$N.field` stands for a field in the data of the N-th of them (from 0). ' +
    'An unknown id is answered with 404 CAPABILITY_NOT_FOUND and the ids that are near to it; one of a module that is not built yet with code_detail `planned`.',
  keywords: ['schema of an operation', 'how do i call it', 'request format', 'parameters of an endpoint'],
  input: Type.Object({
    capability: Type.String({ description: 'Capability id, for example queue.publish.', minLength: 1, maxLength: 200 }),
    view: Type.Optional(Type.Enum(['brief', 'full'], { description: '`brief` when not sent.' })),
  }),
  output: capabilityDetailSchema,
  anyKey: true,
  errors: ['CAPABILITY_NOT_FOUND'],
  examples: [
    {
      title: 'Describe discovery itself',
      input: { capability: 'discovery' },
      expect: { id: 'discovery', method: 'GET' },
    },
  ],
  run: async ({ input, state }) => {
    const detail = state.detail(input.capability, input.view ?? 'brief');
    if (detail !== undefined) return { data: detail };
    throw state.unknown(input.capability);
  },
});

const describeEvent = define({
  method: 'GET',
  path: '/v1/discovery/event/{type}',
  summary: 'Describes one type of event: its payload, with an example.',
  description:
    'Answers what a webhook that is subscribed to the type receives: the schema of `data`, and a whole event as an example. ' +
    'GET /v1/discovery lists all types; those with status `planned` do not occur yet and have no payload.',
  keywords: ['webhook payload schema', 'event example', 'event types'],
  input: Type.Object({
    type: Type.String({ description: 'Event type, for example queue.dlq.', minLength: 1, maxLength: 200 }),
  }),
  output: eventDocumentSchema,
  anyKey: true,
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'What is told of a new account',
      input: { type: 'account.created' },
      expect: { type: 'account.created', module: 'account' },
    },
  ],
  run: async ({ input, state }) => {
    const event = state.event(input.type);
    if (event !== undefined) return { data: event };
    const near = state.nearestEvents(input.type);
    const hint = near.length === 0 ? '' : ` Did you mean ${near.join(', ')}?`;
    const message = `There is no event type ${JSON.stringify(input.type)}.${hint} GET /v1/discovery lists all.`;
    throw problem('NOT_FOUND', { param: 'type', message });
  },
});
