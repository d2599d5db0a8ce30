// One operation of the OpenAPI document, derived from its capability.
import { moduleOf } from '../../../core/callers/scopes.ts';
import { type Capability, pathParameters } from '../../../kit/capability.ts';
import type { Offer } from '../../../kit/offer.ts';
import { descriptionOf, limitsOf, pricingOf, requestSchema, summarizeCapability } from '../../../manifest/describe.ts';
import { withStandIns } from '../../../manifest/example.ts';
import { failureCodes, fieldsBesidePath, takesBody } from '../../../manifest/failures.ts';
import { asJsonSchema, type JsonSchema } from '../../../manifest/json-schema.ts';
import { queryOf, type StreamDescription } from '../../../manifest/streams.ts';
import { specRegions } from '../../../manifest/version.ts';
import { splitInput } from '../curl.ts';
import { priceInWords } from '../price-in-words.ts';
import { failureResponses, withoutDescription } from './components.ts';
import type { SchemaShelf } from './schemas.ts';

/** Keywords of the input that count fields and so mean something else once the path parameters are taken out. */
const countingKeywords: ReadonlySet<string> = new Set(['minProperties', 'maxProperties']);

const referredFailures = Object.fromEntries(
  Object.entries(failureResponses).map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
);

export function operationOf(capability: Capability, offer: Offer, shelf: SchemaShelf, baseUrl: string): object {
  const body = bodyOf(capability, shelf);
  return {
    operationId: capability.id,
    tags: [moduleOf(capability.id)],
    summary: capability.summary,
    description: `${descriptionOf(capability, offer.deployment)}\n\nPrice: ${priceInWords(pricingOf(capability, offer.prices))}.${limitsInWords(capability)}`,
    externalDocs: { url: `${baseUrl}/docs/capabilities/${capability.id}` },
    ...(capability.status === 'deprecated' ? { deprecated: true } : {}),
    'x-svc-capability': capability.id,
    'x-svc-idempotent': capability.idempotent,
    ...(capability.destructive === true ? { 'x-svc-destructive': true } : {}),
    'x-svc-regions': specRegions,
    'x-svc-scope': summarizeCapability(capability, offer).scope,
    'x-svc-errors': failureCodes(capability),
    parameters: parametersOf(capability, shelf),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      200: success(capability, shelf),
      ...referredFailures,
    },
  };
}

/** A stream of Server-Sent Events. */
export function streamOperationOf(stream: StreamDescription, shelf: SchemaShelf): object {
  const query = { ...queryOf(stream), examples: [] };
  return {
    operationId: stream.id,
    tags: [stream.module],
    summary: stream.summary,
    description: `Server-Sent Events, until the client leaves. The data of each: ${stream.event}`,
    'x-svc-stream': true,
    'x-svc-idempotent': false,
    'x-svc-regions': specRegions,
    'x-svc-scope': stream.scope,
    parameters: fieldsBesidePath(query).map((name) => parameter(query, name, 'query', shelf)),
    responses: {
      200: { description: stream.event, content: { 'text/event-stream': { schema: { type: 'string' } } } },
      ...referredFailures,
    },
  };
}

function limitsInWords(capability: Capability): string {
  const entries = Object.entries(limitsOf(capability));
  return entries.length === 0
    ? ''
    : `\n\nLimits:\n${entries.map(([name, sentence]) => `- ${name}: ${sentence}`).join('\n')}`;
}

function parametersOf(capability: Capability, shelf: SchemaShelf): object[] {
  const besidePath = takesBody(capability) ? [] : fieldsBesidePath(capability);
  const key = capability.idempotent ? [{ $ref: '#/components/parameters/IdempotencyKeyHeader' }] : [];
  const keyInQuery =
    capability.idempotent && !takesBody(capability) ? [{ $ref: '#/components/parameters/IdempotencyKeyQuery' }] : [];
  return [
    ...pathParameters(capability.path).map((name) => parameter(capability, name, 'path', shelf)),
    ...besidePath.map((name) => parameter(capability, name, 'query', shelf)),
    ...key,
    ...keyInQuery,
    ...Object.entries(capability.readsHeaders ?? {}).map(([name, description]) => {
      return { name, in: 'header', required: false, description, schema: { type: 'string' } };
    }),
  ];
}

function parameter(
  capability: Pick<Capability, 'input' | 'examples'>,
  name: string,
  place: 'path' | 'query',
  shelf: SchemaShelf,
): object {
  const input = asJsonSchema(capability.input);
  const schema = input.properties?.[name] ?? {};
  const example = withStandIns(capability.examples.find((each) => each.input[name] !== undefined)?.input[name]);
  return {
    name,
    in: place,
    required: input.required?.includes(name) ?? false,
    description: schema.description,
    schema: shelf.place(withoutDescription(schema)),
    ...(place === 'query' && schema.type === 'object' ? { style: 'deepObject', explode: true } : {}),
    ...(example === undefined ? {} : { example }),
  };
}

function bodyOf(capability: Capability, shelf: SchemaShelf): object | undefined {
  const fields = fieldsBesidePath(capability);
  if (capability.method === 'GET' || (capability.method === 'DELETE' && fields.length === 0)) return undefined;
  const schema = bodySchema(capability, fields);
  const examples = takesBody(capability) ? examplesOf(capability) : {};
  return {
    ...(takesBody(capability) ? {} : { description: 'The fields of the query may be sent here instead.' }),
    required: takesBody(capability) && (schema.required?.length ?? 0) > 0,
    content: {
      'application/json': { schema: shelf.place(schema), ...(Object.keys(examples).length === 0 ? {} : { examples }) },
    },
  };
}

function bodySchema(capability: Capability, fields: readonly string[]): JsonSchema {
  const { properties = {}, required = [], title: _title, ...rest } = requestSchema(capability);
  const pathNames = new Set(pathParameters(capability.path));
  const keywords = Object.entries(rest).filter(([keyword]) => pathNames.size === 0 || !countingKeywords.has(keyword));
  const due = takesBody(capability) ? required.filter((name) => fields.includes(name)) : [];
  const isFreeForm = rest.additionalProperties === true;
  const sent = Object.entries(properties)
    .filter(([name]) => !(isFreeForm && pathNames.has(name)))
    .map(([name, field]) => [name, pathNames.has(name) ? repeatedField(field, name) : field]);
  return {
    ...(takesBody(capability) ? Object.fromEntries(keywords) : {}),
    type: 'object',
    properties: Object.fromEntries(sent),
    ...(due.length === 0 ? {} : { required: due }),
  };
}

/** A path parameter may be sent once more in the body. */
function repeatedField(field: JsonSchema, name: string): JsonSchema {
  return { ...field, description: `May repeat ${name} of the path; must then be equal.` };
}

function examplesOf(capability: Capability): Record<string, object> {
  return Object.fromEntries(
    capability.examples.map(({ title, input }, index) => [
      `example_${index + 1}`,
      { summary: title, value: splitInput(capability, withStandIns(input)).rest },
    ]),
  );
}

function success(capability: Capability, shelf: SchemaShelf): object {
  return {
    description: capability.summary,
    headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } },
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['ok', 'data', 'metadata'],
          properties: {
            ok: { type: 'boolean', const: true },
            data: shelf.place(asJsonSchema(capability.output)),
            metadata: { $ref: '#/components/schemas/Metadata' },
          },
        },
      },
    },
  };
}
