// Plain-data descriptions of capabilities, the source of discovery rows, the well-known manifest and the documentation.
import { admission } from '../core/admission.ts';
import { moduleOf } from '../core/callers/scopes.ts';
import type { PriceBook } from '../core/wallet/prices.ts';
import type { Capability, CapabilityExample, PriceName } from '../kit/capability.ts';
import { type Deployment, sourcesInWords, targetsInWords } from '../kit/deployment.ts';
import { type Offer, problemOf } from '../kit/offer.ts';
import { usd } from '../lib/money.ts';
import { failureCodes } from './failures.ts';
import { asJsonSchema, type JsonSchema } from './json-schema.ts';

/** The vendor name of everything that the service runs itself. */
const ownVendor = 'self';
const MIB = 1024 * 1024;

export interface Pricing {
  readonly unit: string;
  readonly price_usd: number;
  /** Least charge of one call; absent when there is none. */
  readonly minimum_usd?: number;
  /** What the call causes and is charged when it happens, under `capability` in the ledger; absent when there is nothing. */
  readonly later?: readonly (Omit<Pricing, 'later'> & { readonly capability: string })[];
}

export interface CapabilitySummary {
  readonly id: string;
  readonly module: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly status: 'ga' | 'beta' | 'deprecated' | 'planned';
  readonly billable: boolean;
  readonly pricing: Pricing;
  readonly idempotent: boolean;
  /** A scope that is just enough for the call: `queue:write`. */
  readonly scope: string;
  readonly regions: readonly string[];
  readonly vendors_live: readonly string[];
}

export interface CapabilityFailure {
  readonly code: string;
  readonly http_status: number;
  readonly retryable: boolean;
}

export interface CapabilityDescription extends CapabilitySummary {
  readonly description: string;
  readonly keywords: readonly string[];
  /** Whether it removes or ends something for good. */
  readonly destructive: boolean;
  readonly request_schema: JsonSchema;
  readonly response_schema: JsonSchema;
  readonly errors: readonly CapabilityFailure[];
  readonly examples: readonly Pick<CapabilityExample, 'title' | 'input' | 'before'>[];
  readonly events_emitted: readonly string[];
  readonly limits: Readonly<Record<string, string>>;
}

/** Price of one unit in USD; free calls cost 0 per call. */
export function pricingOf(
  { price, laterPrices = [] }: Pick<Capability, 'price' | 'laterPrices'>,
  prices: PriceBook,
): Pricing {
  const own: Pricing = price === 'free' ? { unit: 'call', price_usd: 0 } : bookPricing(price, prices);
  if (laterPrices.length === 0) return own;
  return { ...own, later: laterPrices.map((capability) => ({ ...bookPricing(capability, prices), capability })) };
}

function bookPricing(name: PriceName, prices: PriceBook): Omit<Pricing, 'later'> {
  const price = prices.prices[name];
  if (price === undefined) throw new Error(`price book ${prices.version} has no entry ${name}`);
  return {
    unit: price.unit,
    price_usd: usd(price.nanosPerUnit),
    ...(price.minimumNanos === undefined ? {} : { minimum_usd: usd(price.minimumNanos) }),
  };
}

/** The description as it holds on this deployment: what takes a URL to call or read says where it may lead. */
export function descriptionOf({ description, errors }: Capability, deployment: Deployment): string {
  const targets = errors.includes('WEBHOOK_URL_REJECTED') ? targetsInWords(deployment) : null;
  const sources = errors.includes('TARGET_REJECTED') ? sourcesInWords(deployment) : null;
  return [description, targets, sources].filter((text) => text !== null).join('\n\n');
}

/** The row of a capability in GET /v1/discovery (contract, "Discovery, OpenAPI, versioning"). */
export function summarizeCapability(
  capability: Capability,
  { prices, deployment }: Pick<Offer, 'prices' | 'deployment'>,
): CapabilitySummary {
  return {
    id: capability.id,
    module: moduleOf(capability.id),
    method: capability.method,
    path: capability.path,
    summary: capability.summary,
    status: capability.status ?? 'ga',
    billable: capability.price !== 'free',
    pricing: pricingOf(capability, prices),
    idempotent: capability.idempotent,
    scope: `${moduleOf(capability.id)}:${capability.scope}`,
    regions: [deployment.region],
    vendors_live: capability.status === 'planned' ? [] : [ownVendor],
  };
}

/** Everything that holds for a capability on this deployment, without live vendors (contract, "Discovery, OpenAPI, versioning"). */
export function describeCapability(capability: Capability, offer: Offer): CapabilityDescription {
  return {
    ...summarizeCapability(capability, offer),
    description: descriptionOf(capability, offer.deployment),
    keywords: capability.keywords ?? [],
    destructive: capability.destructive ?? false,
    request_schema: requestSchema(capability),
    response_schema: asJsonSchema(capability.output),
    errors: failureCodes(capability).map((code) => {
      const { status, retryable } = problemOf(offer, code);
      return { code, http_status: status, retryable };
    }),
    examples: capability.examples.map(({ title, input, before }) => ({
      title,
      input,
      ...(before === undefined ? {} : { before }),
    })),
    events_emitted: capability.events,
    limits: limitsOf(capability),
  };
}

/** Limits an agent should know, name to sentence; that of the body is the one that is enforced. */
export function limitsOf(capability: Capability): Readonly<Record<string, string>> {
  if (capability.method === 'GET') return capability.limits ?? {};
  const bytesMax = capability.bodyBytesMax ?? admission.call.bodyBytesMax;
  const body = bytesMax < MIB ? `${bytesMax / 1024} KiB` : `${bytesMax / MIB} MiB`;
  return { body: `${body}.`, ...capability.limits };
}

/** The field that every keyed write takes beside its own; the gateway reads it, modules never see it. */
export const idempotencyKeyField: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^[ -~]+$',
  description:
    'Makes a retry safe: the same key and request return the first result, at no cost. ' +
    'Printable ASCII. Also a header: Idempotency-Key; both must agree.',
};

/** Whether unknown fields are refused; else they are data, or ignored and named in warnings (contract §1). */
export function refusesUnknownFields({ toleratesUnknownFields = false, input }: Capability): boolean {
  const { additionalProperties = false } = asJsonSchema(input);
  return additionalProperties === false && !toleratesUnknownFields;
}

/** Path, query and body fields in one schema, with the idempotency key where the call takes one. */
export function requestSchema(capability: Capability): JsonSchema {
  const input = asJsonSchema(capability.input);
  const key: Record<string, JsonSchema> = capability.idempotent ? { idempotency_key: idempotencyKeyField } : {};
  return {
    ...input,
    properties: { ...input.properties, ...key },
    ...(refusesUnknownFields(capability) ? { additionalProperties: false } : {}),
  };
}
