// A capability as an MCP tool: its name, its schema shortened for a list, and the hints for clients that approve calls. The full texts are
// in describe_capability.
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/server';
import { takesUnknownFields } from '../../gateway/field-schema.ts';
import { type Capability, toolName } from '../../kit/capability.ts';
import { pricingOf, requestSchema } from '../../manifest/describe.ts';
import { asJsonSchema, type JsonSchema } from '../../manifest/json-schema.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { priceInWords } from '../documents/price-in-words.ts';
import { oneLine, shorten } from '../documents/shorten.ts';

/** 8,000 tokens at four bytes each, with room for get_account. */
const MODULE_BYTES_MAX = 31_000;
/** Characters of the description of a tool, and of a field of its input: the first with which a module fits. */
const texts = [
  { tool: 260, field: 200, isTerse: false },
  { tool: 230, field: 150, isTerse: true },
  { tool: 200, field: 110, isTerse: true },
  { tool: 180, field: 80, isTerse: true },
  { tool: 160, field: 60, isTerse: true },
  { tool: 140, field: 40, isTerse: true },
] as const;
type Text = (typeof texts)[number];
/** What a list leaves out of schemas: it says nothing of what to send. A terse one also leaves out what descriptions and failures say. */
const left: ReadonlySet<string> = new Set(['title', 'examples', '$id', 'readOnly']);
const leftWhenTerse: ReadonlySet<string> = new Set([
  ...left,
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]);

/** The part of every tool that keeps parts of the answer. */
export const selectSchema = {
  type: 'array',
  items: { type: 'string' },
  description: 'JSON pointers: what to keep of data.',
} as const;

/** Whether the tool has `select` beside the fields of the capability: not where any name is data, nor where it has that name itself. */
export function takesSelect({ input }: Pick<Capability, 'input'>): boolean {
  return !takesUnknownFields(asJsonSchema(input)) && !Object.hasOwn(input.properties, 'select');
}

/** The tools of a module's capabilities, by id: their texts as long as they may be where all fit, else shorter. */
export function toolsOf(manifest: Manifest, capabilities: readonly Capability[]): Map<string, Tool> {
  for (const [i, text] of texts.entries()) {
    const tools = new Map(capabilities.map((each) => [each.id, toolOf(manifest, each, text)]));
    const bytes = Buffer.byteLength(JSON.stringify([...tools.values()]));
    if (bytes <= MODULE_BYTES_MAX || i === texts.length - 1) return tools;
  }
  throw new Error('there is a shortest text');
}

function toolOf(manifest: Manifest, capability: Capability, text: Text): Tool {
  const { type: _, ...schema } = compact(requestSchema(capability), text) as JsonSchema;
  const properties = {
    ...schema.properties,
    // The instructions of the server say what it is for.
    ...(schema.properties?.idempotency_key === undefined ? {} : { idempotency_key: { type: 'string' } }),
    ...(takesSelect(capability)
      ? { select: text.isTerse ? { type: 'array', items: { type: 'string' } } : selectSchema }
      : {}),
  };
  return {
    name: toolName(capability.id),
    description: describedIn(manifest, capability, text.tool),
    inputSchema: { type: 'object', ...schema, properties } as Tool['inputSchema'],
    annotations: annotationsOf(manifest, capability),
  };
}

function describedIn({ prices }: Manifest, capability: Capability, charactersMax: number): string {
  const price =
    capability.price === 'free' && capability.laterPrices === undefined
      ? 'Free'
      : `Price: ${priceInWords(pricingOf(capability, prices))}`;
  const { summary, description } = capability;
  const text = oneLine(description.startsWith(summary) ? description : `${summary} ${description}`);
  return `${shorten(text, charactersMax - price.length - 2)} ${price}.`;
}

/** Hints that say what the protocol takes for granted are left out: destructive, not idempotent, of an open world. */
function annotationsOf({ modules }: Manifest, capability: Capability): ToolAnnotations {
  const { id, scope, method, destructive, errors } = capability;
  const isRepeatable = method === 'DELETE' || method === 'PUT' || method === 'PATCH';
  const asksVendors = modules.some(({ models }) => models?.capabilities.includes(id) === true);
  const isClosed = !asksVendors && !errors.includes('WEBHOOK_URL_REJECTED');
  return {
    ...(scope === 'read' ? { readOnlyHint: true } : {}),
    ...(scope === 'read' || destructive === true ? {} : { destructiveHint: false }),
    ...(scope === 'read' || isRepeatable ? { idempotentHint: true } : {}),
    ...(isClosed ? { openWorldHint: false } : {}),
  };
}

/** The schema without what a list need not say, its descriptions cut. */
function compact(value: unknown, text: Text): unknown {
  if (Array.isArray(value)) return value.map((item) => compact(item, text));
  if (value === null || typeof value !== 'object') return value;
  const { properties, ...keywords } = value as JsonSchema;
  const kept = Object.entries(keywords)
    .filter(([keyword, each]) => !(text.isTerse ? leftWhenTerse : left).has(keyword) && !isClosing(keyword, each))
    .map(([keyword, each]) => [
      keyword,
      keyword === 'description' && typeof each === 'string'
        ? shorten(oneLine(each), text.field)
        : isData(keyword)
          ? each
          : compact(each, text),
    ]);
  const fields = Object.entries(properties ?? {}).map(([name, schema]) => [name, compact(schema, text)]);
  return {
    ...Object.fromEntries(kept),
    ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
  };
}

/** What is not a field is refused by its name: no list need say so of every tool. */
function isClosing(keyword: string, value: unknown): boolean {
  return keyword === 'additionalProperties' && value === false;
}

function isData(keyword: string): boolean {
  return keyword === 'default' || keyword === 'const' || keyword === 'enum' || keyword === 'required';
}
