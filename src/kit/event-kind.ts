// A kind of event as its module defines it: the schema of `data`, with an example. Discovery, the documentation and the webhooks of the OpenAPI
// document are derived from it.
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { sendEvents } from '../core/events/outbox.ts';
import type { Transaction } from '../db/database.ts';
import { instant, instantOrNull, textOrNull } from './fields.ts';

/** `Data`: what it tells. */
// biome-ignore lint/suspicious/noExplicitAny: a list holds kinds of different data
export interface EventKind<Data = any> {
  /** Never renamed or removed. */
  readonly type: string;
  readonly summary: string;
  /** When background work or the operator's command line tells it; absent: only calls do, which name it in their record. */
  readonly withoutCall?: string;
  /** Schema of `data`: `object`, and what stands beside it. */
  readonly data: TObject & { readonly '~data'?: Data };
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
  /** Page of what it is about, below /console. `beside`: as for `one`. */
  path?(object: EventRecord, beside: EventRecord): string;
  /** How it is marked. */
  readonly tone?: 'good' | 'warning' | 'critical';
}

export type EventRecord = Readonly<Record<string, unknown>>;

/** One field of a record, with a value that it may have. */
export interface Member<Schema extends TSchema = TSchema> {
  readonly schema: Schema;
  /** Undefined: left out of the example. */
  readonly example: unknown;
}

type Members = Readonly<Record<string, Member>>;
type RecordOf<Of extends Members> = Static<TObject<{ [Name in keyof Of]: Of[Name]['schema'] }>>;

/** An event as it is listed and delivered (contract of webhooks); `data` is that of its kind. */
export const eventSchema = Type.Object(
  {
    event_id: Type.String({ description: 'Id of the event, also the webhook-id of its deliveries.' }),
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
export function eventKind<Of extends Members, Beside extends Members = Record<never, never>>(
  type: string,
  summary: string,
  object: Of,
  beside: Beside = {} as Beside,
): EventKind<{ readonly object: RecordOf<Of> } & RecordOf<Beside>> {
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

/** Tells it, in the transaction that made it true. `call`: the account, and the request that caused it. */
export function tellEvent<Data>(
  tx: Transaction,
  { type }: EventKind<Data>,
  { accountId, requestId }: { readonly accountId: string; readonly requestId: string | null },
  data: Data,
  nowMs: number,
): void {
  sendEvents(tx, [{ accountId, type, data, requestId }], nowMs);
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
export function membersOf<Schema extends TObject, Examples extends Readonly<Record<string, unknown>>>(
  record: Schema,
  examples: Examples,
) {
  const schemas = record.properties as Readonly<Record<string, TSchema>>;
  const members = Object.fromEntries(
    Object.entries(examples).map(([name, example]) => {
      const schema = schemas[name];
      if (schema === undefined) throw new Error(`the record has no field ${name}`);
      return [name, { schema, example }];
    }),
  );
  return members as { [Name in keyof Examples & keyof Schema['properties']]: Member<Schema['properties'][Name]> };
}

/** The fields of a record by their kind, each with the value that the example shows. */
export const member = {
  text: (description: string, example: string) => memberOf(Type.String({ description }), example),
  textOrNull: (description: string, example: string | null) => memberOf(textOrNull(description), example),
  instant: (description: string, example = '2026-11-01T12:00:00.000Z') => memberOf(instant(description), example),
  instantOrNull: (description: string, example: string | null) => memberOf(instantOrNull(description), example),
  number: (description: string, example: number) => memberOf(Type.Number({ description }), example),
  whole: (description: string, example: number) => memberOf(Type.Integer({ description }), example),
  flag: (description: string, example: boolean) => memberOf(Type.Boolean({ description }), example),
  /** One of a few words; the first is the example. */
  word: <const Words extends readonly [string, ...string[]]>(description: string, ...words: Words) =>
    memberOf(Type.Unsafe<Words[number]>(Type.Enum([...words], { description })), words[0]),
  texts: (description: string, ...example: readonly string[]) =>
    memberOf(Type.Array(Type.String(), { description }), example),
};

function memberOf<Schema extends TSchema>(schema: Schema, example: unknown): Member<Schema> {
  return { schema, example };
}

/** A field that is not always there. */
export const optional = <Schema extends TSchema>({ schema, example }: Member<Schema>) =>
  memberOf(Type.Optional(schema), example);
/** A field that the example does not show. */
export const otherwise = <Schema extends TSchema>({ schema }: Member<Schema>) =>
  memberOf(Type.Optional(schema), undefined);

function schemasOf(members: Members): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(members).map(([name, { schema }]) => [name, schema]));
}

function examplesOf(members: Members): Record<string, unknown> {
  const shown = Object.entries(members).filter(([, { example }]) => example !== undefined);
  return Object.fromEntries(shown.map(([name, { example }]) => [name, example]));
}
