// A kind of event as the module that tells it defines it: what `data` holds, with an example. Discovery, the documentation and the
// webhooks of the OpenAPI document are derived from it.
import Type, { type TObject, type TSchema } from 'typebox';

export interface EventKind {
  /** Never renamed or removed. */
  readonly type: string;
  readonly summary: string;
  /** When background work or the operator's command line tells it; absent: only calls do, which name it in their record. */
  readonly withoutCall?: string;
  /** Schema of `data`: `object`, and what stands beside it. */
  readonly data: TObject;
  /** A valid `data`. */
  readonly example: Readonly<Record<string, unknown>>;
  /** What the console says of it; absent: its summary. */
  readonly words?: EventWords;
}

/** What happened, for people who read a list of events. */
export interface EventWords {
  /** `Queue jobs: message moved to jobs-dead`. `beside`: the fields of `data` beside `object`. */
  one(object: EventRecord, beside: EventRecord): string;
  /** Of several in a row, where this says the same of each; absent: each has a line of its own. */
  many?(object: EventRecord, count: number): string;
  /** Page of what it is about, below /console. */
  path?(object: EventRecord): string;
  /** How it is marked. */
  readonly tone?: 'good' | 'warning' | 'critical';
}

export type EventRecord = Readonly<Record<string, unknown>>;

/** One field of a record, with a value that it may have. */
export interface Member {
  readonly schema: TSchema;
  /** Undefined: left out of the example. */
  readonly example: unknown;
}

type Members = Readonly<Record<string, Member>>;

/** An event as it is listed and delivered (contract §10); `data` is that of its kind. */
export const eventSchema = Type.Object(
  {
    id: Type.String({ description: 'Event id, also the webhook-id of its deliveries.' }),
    type: Type.String({ description: 'Event type.' }),
    timestamp: Type.String({ format: 'date-time', description: 'When it happened.' }),
    api_version: Type.String({ description: 'Date of the shape of data.' }),
    account_id: Type.String({ description: 'Account it is about.' }),
    region: Type.String({ description: 'Region of the service.' }),
    sequence: Type.Integer({ description: 'Grows by one from event to event of the account.' }),
    test: Type.Boolean({ description: 'Whether it was sent by a test.' }),
    request_id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Request that caused it, if one did.',
    }),
    data: Type.Unknown({
      description: '`object` is the record as its get would return it; GET /v1/discovery/event/{type} has its schema.',
    }),
  },
  { title: 'Event' },
);

/** A kind whose data is `{ object, …beside }`. */
export function eventKind(type: string, summary: string, object: Members, beside: Members = {}): EventKind {
  const truncated = Type.Optional(Type.Boolean({ description: 'True when long texts, lists or the payload are cut.' }));
  return {
    type,
    summary,
    data: Type.Object({
      object: Type.Object(schemasOf(object), { description: 'The record it is about.' }),
      ...schemasOf(beside),
      truncated,
    }),
    example: { object: examplesOf(object), ...examplesOf(beside) },
  };
}

/** The kinds, with what each is told for without a call. */
export function withoutCall(causes: Readonly<Record<string, string>>, kinds: readonly EventKind[]): EventKind[] {
  return kinds.map((kind) => (causes[kind.type] === undefined ? kind : { ...kind, withoutCall: causes[kind.type] }));
}

/** The kinds, with what the console says of each. */
export function inWords(words: Readonly<Record<string, EventWords>>, kinds: readonly EventKind[]): EventKind[] {
  return kinds.map((kind) => (words[kind.type] === undefined ? kind : { ...kind, words: words[kind.type] }));
}

/** The fields of a record that `examples` names, as the schema of the record describes them. */
export function membersOf(record: TObject, examples: Readonly<Record<string, unknown>>): Members {
  const schemas = record.properties as Readonly<Record<string, TSchema>>;
  return Object.fromEntries(
    Object.entries(examples).map(([name, example]) => {
      const schema = schemas[name];
      if (schema === undefined) throw new Error(`the record has no field ${name}`);
      return [name, { schema, example }];
    }),
  );
}

export const text = (description: string, example: string): Member => ({
  schema: Type.String({ description }),
  example,
});
export const textOrNull = (description: string, example: string | null): Member => ({
  schema: Type.Unsafe<string | null>({ type: ['string', 'null'], description }),
  example,
});
export const instant = (description: string, example = '2026-11-01T12:00:00.000Z'): Member => ({
  schema: Type.String({ format: 'date-time', description }),
  example,
});
export const instantOrNull = (description: string, example: string | null): Member => ({
  schema: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description }),
  example,
});
export const number = (description: string, example: number): Member => ({
  schema: Type.Number({ description }),
  example,
});
export const whole = (description: string, example: number): Member => ({
  schema: Type.Integer({ description }),
  example,
});
export const flag = (description: string, example: boolean): Member => ({
  schema: Type.Boolean({ description }),
  example,
});
/** One of a few words; the first is the example. */
export const word = (description: string, ...words: readonly [string, ...string[]]): Member => ({
  schema: Type.Enum([...words], { description }),
  example: words[0],
});
export const texts = (description: string, ...example: readonly string[]): Member => ({
  schema: Type.Array(Type.String(), { description }),
  example,
});

/** A field that is not always there. */
export const optional = ({ schema, example }: Member): Member => ({ schema: Type.Optional(schema), example });
/** A field that the example does not show. */
export const otherwise = ({ schema }: Member): Member => ({ schema: Type.Optional(schema), example: undefined });

function schemasOf(members: Members): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]));
}

function examplesOf(members: Members): Record<string, unknown> {
  const shown = Object.entries(members).filter(([, { example }]) => example !== undefined);
  return Object.fromEntries(shown.map(([name, { example }]) => [name, example]));
}
