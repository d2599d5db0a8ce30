// Schemas of the discovery answers (contract, "Discovery, OpenAPI, versioning").
import { Type } from 'typebox';

const statuses = ['ga', 'beta', 'deprecated', 'planned'];
const strings = (description: string) => Type.Array(Type.String(), { description });
const schemaDocument = (description: string) => Type.Object({}, { additionalProperties: true, description });

const streamField = Type.Optional(
  Type.Boolean({ description: 'true: it answers as it happens, as Server-Sent Events. Absent for calls.' }),
);

const summaryFields = {
  id: Type.String({ description: 'Capability id.' }),
  module: Type.String({ description: 'Module it belongs to.' }),
  method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { description: 'HTTP method.' }),
  path: Type.String({ description: 'Path with {parameters}.' }),
  summary: Type.String({ description: 'One sentence.' }),
  status: Type.Enum(statuses, { description: 'Whether it may be relied on.' }),
  billable: Type.Boolean({ description: 'Whether it deducts from the wallet.' }),
  pricing: Type.Object(
    {
      unit: Type.String({ description: 'What is counted.' }),
      price_usd: Type.Number({ description: 'Price of one unit, USD; 0 when free.', minimum: 0 }),
      minimum_usd: Type.Optional(Type.Number({ description: 'Least charge of one call, USD.', minimum: 0 })),
      later: Type.Optional(
        Type.Array(
          Type.Object({
            capability: Type.String({ description: 'What it is charged as, in the ledger and in usage.' }),
            unit: Type.String({ description: 'What is counted.' }),
            price_usd: Type.Number({ description: 'Price of one unit, USD.', minimum: 0 }),
            minimum_usd: Type.Optional(Type.Number({ description: 'Least charge at a time, USD.', minimum: 0 })),
          }),
          { description: 'What the call causes and is charged when it happens.' },
        ),
      ),
    },
    { description: 'What a call costs.' },
  ),
  idempotent: Type.Boolean({ description: 'Whether it takes an idempotency key.' }),
  scope: Type.String({ description: 'A scope that is just enough for the call.' }),
  regions: strings('Regions where it is offered.'),
  vendors_live: strings('Vendors that serve it now.'),
  stream: streamField,
};

/** With `view=brief`. */
const briefFields = {
  id: Type.String({ description: 'Capability id.' }),
  summary: Type.String({ description: 'One sentence.' }),
  price: Type.String({ description: 'Price in words: `0.00002 USD per message`, `free`.' }),
  stream: streamField,
};

const eventFields = {
  type: Type.String({ description: 'Event type.' }),
  module: Type.String({ description: 'Module whose work tells it.' }),
  status: Type.Enum(['ga', 'planned'], { description: 'Planned ones do not occur yet.' }),
  summary: Type.String({ description: 'When it is sent.' }),
};

const streamFields = {
  id: Type.String({ description: 'Name of the stream.' }),
  module: Type.String({ description: 'Module it belongs to.' }),
  method: Type.Enum(['GET'], { description: 'HTTP method.' }),
  path: Type.String({ description: 'Path.' }),
  summary: Type.String({ description: 'One sentence.' }),
  scope: Type.String({ description: 'A scope that is just enough.' }),
  event: Type.String({ description: 'What the data of an event is.' }),
  query_schema: schemaDocument('JSON Schema of its query.'),
};

export const eventDocumentSchema = Type.Object(
  {
    ...eventFields,
    data_schema: Type.Optional(schemaDocument('JSON Schema of data; absent while the type is planned.')),
    example: Type.Optional(schemaDocument('A whole event; absent while the type is planned.')),
  },
  { title: 'EventKind' },
);

export const discoverySchema = Type.Object(
  {
    service: Type.String({ description: 'Name of the service.' }),
    api_version: Type.String({ description: 'Date of the wire shapes.' }),
    spec_version: Type.String({ description: 'Version of the interface description.' }),
    manifest_sha256: Type.String({
      description: 'Changes when anything that is offered changes.',
      pattern: '^[a-f0-9]{64}$',
    }),
    regions: strings('Regions of the service.'),
    modules: Type.Optional(
      Type.Array(
        Type.Object({
          module: Type.String({ description: 'Module tag.' }),
          status: Type.Enum(['ga', 'beta', 'planned'], { description: 'Planned modules have no capability yet.' }),
        }),
        { description: 'Every module; not where something is asked for.' },
      ),
    ),
    planned: Type.Optional(
      Type.Array(
        Type.Object({
          module: Type.String({ description: 'Module tag.' }),
          message: Type.String({ description: 'Sentence that says so.' }),
        }),
        {
          description: 'Modules that `q` belongs to best and that are not built: what fits below does something else.',
        },
      ),
    ),
    message: Type.Optional(Type.String({ description: 'Where nothing fits: what there is.' })),
    total: Type.Optional(Type.Integer({ description: 'How many fit what is asked for, without `limit`.', minimum: 0 })),
    capabilities: Type.Array(
      Type.Union([
        Type.Object(summaryFields, { title: 'CapabilitySummary' }),
        Type.Object(briefFields, { title: 'CapabilityBrief' }),
      ]),
      { description: 'Every capability, or those that fit what is asked for.' },
    ),
    streams: Type.Optional(
      Type.Array(Type.Object(streamFields, { title: 'StreamSummary' }), {
        description: 'What answers as it happens, as Server-Sent Events; not where something is asked for.',
      }),
    ),
    events: Type.Optional(
      Type.Array(Type.Object(eventFields, { title: 'EventSummary' }), {
        description: 'Every event type that a webhook may subscribe to; not where something is asked for.',
      }),
    ),
  },
  { title: 'Discovery' },
);

const call = {
  capability: Type.String({ description: 'Capability id.' }),
  input: schemaDocument('Path, query and body fields together.'),
};

export const capabilityDetailSchema = Type.Object(
  {
    ...summaryFields,
    regions: Type.Optional(strings('With view=full: regions where it is offered.')),
    vendors_live: Type.Optional(strings('With view=full: vendors that serve it now.')),
    description: Type.String({ description: 'What it does and what to watch out for.' }),
    keywords: Type.Optional(strings('With view=full: words by which it is found.')),
    destructive: Type.Boolean({ description: 'Whether it removes or ends something for good.' }),
    request_schema: schemaDocument(
      'JSON Schema of path, query and body fields together; names in the path are path parameters.',
    ),
    answer: Type.Optional(
      Type.Unknown({ description: 'The shape of data: the type of each field in its place; not with view=full.' }),
    ),
    response_schema: Type.Optional(schemaDocument('With view=full: JSON Schema of data.')),
    errors: Type.Array(
      Type.Object({
        code: Type.String({ description: 'Error code.' }),
        http_status: Type.Integer({ description: 'HTTP status.', minimum: 400, maximum: 599 }),
        retryable: Type.Boolean({ description: 'Whether a retry may succeed.' }),
      }),
      { description: 'Errors it may answer with; without view=full those beside the common ones.' },
    ),
    examples: Type.Array(
      Type.Object({
        title: Type.String({ description: 'What the example shows.' }),
        input: schemaDocument('Path, query and body fields together.'),
        before: Type.Optional(
          Type.Array(
            Type.Object({
              ...call,
              until: Type.Optional(
                Type.Record(Type.String(), Type.Unknown(), {
                  description: 'Call again, after a pause, until the data of the answer contains these fields.',
                }),
              ),
            }),
            { description: 'Calls to make first.' },
          ),
        ),
      }),
      { description: 'Calls that work as they stand.' },
    ),
    also_via: Type.Array(
      Type.Object({
        client: Type.String({ description: 'Client of another service that works unchanged.' }),
        address: Type.String({ description: 'What it is given.' }),
      }),
      { description: 'Other ways to the same capability.' },
    ),
    events_emitted: strings('Event types that it may cause.'),
    events: Type.Optional(
      Type.Array(eventDocumentSchema, { description: 'With view=full: the same with their payloads.' }),
    ),
    limits: Type.Record(Type.String(), Type.String(), { description: 'Limits by name.' }),
    vendors: Type.Array(
      Type.Object({
        vendor: Type.String({ description: 'Vendor; self for what runs in this service.' }),
        region: Type.String({ description: 'Region it serves from.' }),
        up: Type.Boolean({ description: 'Whether it answers now.' }),
        models: strings('Models to choose from.'),
        price_usd: Type.Number({ description: 'Price of one unit there, USD.', minimum: 0 }),
      }),
      { description: 'Who serves it now.' },
    ),
  },
  { title: 'CapabilityDetail' },
);
