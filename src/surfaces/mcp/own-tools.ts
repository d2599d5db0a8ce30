// The surface's own tools, with which a model finds a capability for its task, reads it, calls it, and inspects its key. All four together
// take less than 1,200 tokens of a prompt.
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { moduleOf } from '../../core/callers/scopes.ts';
import type { Capability } from '../../kit/capability.ts';
import type { RawRequest } from '../../kit/raw-route.ts';
import { JsonText } from '../../lib/json-text.ts';
import { describeCapability } from '../../manifest/describe.ts';
import { asJsonSchema } from '../../manifest/json-schema.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { type StreamDescription, streamsOf } from '../../manifest/streams.ts';
import { invalidField, problem } from '../../problems/problem.ts';
import { unknownCapability } from '../documents/discovery.ts';
import { nothingFits, plannedFor } from '../documents/discovery-listing.ts';
import { priceInWords } from '../documents/price-in-words.ts';
import { briefOf, findCapabilities, isStream, QUERY_CHARACTERS_MAX } from '../documents/search.ts';
import { ownResult, readSelect } from './answers.ts';
import { selectSchema } from './tools.ts';

/** What a key may do at an address. */
export interface Reach {
  /** Capabilities that it may call, at whatever address. */
  readonly allowed: ReadonlySet<string>;
  readonly readOnly: boolean;
}

export interface OwnCall {
  readonly manifest: Manifest;
  readonly set: Reach;
  readonly request: RawRequest;
  readonly input: Readonly<Record<string, unknown>>;
  /** `input` of the input, as it was sent; null: it is not there. */
  readonly inputText: string | null;
  /** The result of a call, from its envelope. */
  toResult(envelope: string, select: readonly string[] | null): Promise<CallToolResult>;
}

export interface OwnTool {
  readonly tool: Tool;
  /** Also where modules have their own tools. */
  readonly isEverywhere: boolean;
  /** Throws the Problem of what is wrong with the input. */
  run(call: OwnCall): Promise<CallToolResult>;
}

const SEARCH_LIMIT_MAX = 20;
const SEARCH_LIMIT = 8;
const free = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const id = { type: 'string', description: 'As search_capabilities gives it: queue.publish.' } as const;

const searchCapabilities: OwnTool = {
  isEverywhere: false,
  tool: {
    name: 'search_capabilities',
    description:
      'Finds what this service can do for your task: queues, vectors, errors, cron, webhooks, models and more. Answers ids with summary and price. Free.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What you want to do: "delay a message". Empty lists all.' },
        module: { type: 'string', description: 'Only this module.' },
        limit: { type: 'integer', minimum: 1, maximum: SEARCH_LIMIT_MAX, default: SEARCH_LIMIT },
      },
    },
    annotations: free,
  },
  async run({ manifest, set, request, input }) {
    await request.rate();
    const { query = '', module, limit = SEARCH_LIMIT } = input;
    if (typeof query !== 'string') throw invalidField('query', 'type', 'query must be a string.');
    if (query.length > QUERY_CHARACTERS_MAX)
      throw invalidField('query', 'maxLength', `query may have at most ${QUERY_CHARACTERS_MAX} characters.`);
    if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > SEARCH_LIMIT_MAX)
      throw invalidField('limit', 'range', `limit must be an integer from 1 to ${SEARCH_LIMIT_MAX}.`);
    const modules = [...new Set([...set.allowed].map(moduleOf))];
    if (module !== undefined && !modules.includes(module as string))
      throw invalidField('module', 'enum', `module must be one that this key reaches: ${modules.join(', ')}.`);
    const isShown = (found: Capability | StreamDescription) =>
      (isStream(found) ? modules.includes(found.module) : set.allowed.has(found.id)) &&
      (module === undefined || moduleOf(found.id) === module);
    const found = (await findCapabilities(manifest, query, isShown)).slice(0, limit as number);
    const items = found.map((each) => briefOf(each, manifest));
    // Whoever finds nothing learns where to look.
    const planned = module === undefined ? await plannedFor(manifest, query) : [];
    const data = {
      ...(planned.length > 0 ? { planned } : {}),
      items,
      ...(items.length > 0 ? {} : { message: nothingFits(modules), modules: summariesOf(manifest, modules) }),
    };
    return ownResult(data, request.failureMetadata());
  },
};

function summariesOf({ modules }: Manifest, shown: readonly string[]) {
  return modules.filter(({ name }) => shown.includes(name)).map(({ name, summary }) => ({ name, summary }));
}

const describeOne: OwnTool = {
  isEverywhere: false,
  tool: {
    name: 'describe_capability',
    description:
      'The whole of one capability: what to send (JSON Schema), what comes back, price, errors, an example. Free.',
    inputSchema: { type: 'object', properties: { id }, required: ['id'] },
    annotations: free,
  },
  async run({ manifest, set, request, input }) {
    await request.rate();
    const stream = streamsOf(manifest.modules).find((each) => each.id === input.id);
    if (stream !== undefined) return ownResult({ ...stream, stream: true }, request.failureMetadata());
    const capability = capabilityOf(manifest, input.id);
    const described = describeCapability(capability, manifest);
    const { request_schema, response_schema, errors, examples, pricing, limits, events_emitted } = described;
    const data = {
      id: capability.id,
      summary: described.summary,
      description: described.description,
      scope: described.scope,
      may_call: set.allowed.has(capability.id),
      price: priceInWords(pricing),
      input_schema: request_schema,
      output_schema: response_schema,
      errors: errors.map(({ code }) => code),
      example: examples[0] ?? null,
      limits,
      events_emitted,
    };
    return ownResult(data, request.failureMetadata());
  },
};

const callCapability: OwnTool = {
  isEverywhere: false,
  tool: {
    name: 'call_capability',
    description:
      'Calls a capability and answers data and metadata (cost_usd, balance_usd). It may cost money or delete: describe it first. A failure says in error what to mend.',
    inputSchema: {
      type: 'object',
      properties: {
        id,
        input: {
          type: 'object',
          description: "All fields of the capability's input; idempotency_key makes a retry safe.",
        },
        select: selectSchema,
      },
      required: ['id'],
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  async run({ manifest, set, request, input, inputText, toResult }) {
    const capability = capabilityOf(manifest, input.id);
    if (set.readOnly && capability.scope !== 'read')
      throw problem('INSUFFICIENT_SCOPE', {
        message: `${capability.id} changes something, and this address is for reading only (read_only=true).`,
        detail: 'read_only',
      });
    const { required = [] } = asJsonSchema(capability.input);
    if (input.input === undefined && required.length > 0)
      throw invalidField(
        'input',
        'required',
        `input is missing: an object with the fields of ${capability.id}, which needs ${required.join(', ')}.`,
      );
    const sent = input.input ?? {};
    if (typeof sent !== 'object' || Array.isArray(sent))
      throw invalidField('input', 'type', 'input must be an object of the fields of the capability.');
    const select = readSelect(input.select);
    return toResult((await request.invoke(capability.id, new JsonText(inputText ?? '{}'))).envelope, select);
  },
};

/** What the envelope shows a key of its account, and no more. */
const BALANCE = 'account.balance';
const BUDGET = 'account.budget.get';

const getAccount: OwnTool = {
  isEverywhere: true,
  tool: {
    name: 'get_account',
    description: 'The account of this key: its scopes and modules, and where it may see them balance and budget. Free.',
    inputSchema: { type: 'object', properties: {} },
    annotations: free,
  },
  async run({ manifest, set, request }) {
    await request.rate();
    const { principal } = request;
    if (principal === null) throw problem('UNAUTHORIZED');
    const [balance, budget] = await Promise.all(
      [BALANCE, BUDGET].map(async (each) => {
        if (!manifest.byId.has(each) || !set.allowed.has(each)) return undefined;
        const { problem: failure, envelope } = await request.invoke(each, {});
        if (failure !== null) throw failure;
        return JSON.parse(envelope).data as unknown;
      }),
    );
    const data = {
      account_id: principal.accountId,
      tier: principal.tier,
      scopes: principal.scopes ?? ['*'],
      modules: [...new Set([...set.allowed].map(moduleOf))],
      ...(balance === undefined ? {} : { balance }),
      ...(budget === undefined ? {} : { budget }),
    };
    return ownResult(data, request.failureMetadata());
  },
};

/** In the order in which they are listed. */
export const ownTools: readonly OwnTool[] = [searchCapabilities, describeOne, callCapability, getAccount];

function capabilityOf(manifest: Manifest, sent: unknown) {
  if (typeof sent !== 'string') throw invalidField('id', 'type', 'id must be the id of a capability: queue.publish.');
  const capability = manifest.byId.get(sent);
  if (capability === undefined) throw unknownCapability(manifest, sent, 'id');
  return capability;
}
