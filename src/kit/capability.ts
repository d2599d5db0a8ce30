// The record that defines an operation, one per operation. Every surface (REST, MCP, OpenAPI, discovery, docs) is derived from it.
import type { Static, TObject, TSchema } from 'typebox';
import { moduleOf, OPERATOR_MODULE, type ScopeKind } from '../core/callers/scopes.ts';
import type { JsonText } from '../lib/json-text.ts';
import type { Failover } from '../routing/failover.ts';
import type { BulkBody } from './bulk-body.ts';
import type { CallContext } from './services.ts';

/** What must be so of who calls, and of the account, before the input of a call is looked at, in this order. */
export const gates = ['operator', 'person', 'recent_sign_in', 'email', 'kyc'] as const;
export type Gate = (typeof gates)[number];
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The name of an entry of the price book, which says what it counts: `queue.publish`. */
export type PriceName = `${string}.${string}`;

/** Modules whose writes concern the account itself: they ask for the scope admin. */
const administered: readonly string[] = ['account', OPERATOR_MODULE];

/** What `run` answers. Money is nano-USD. A JsonText root reaches the wire byte for byte. */
export interface Answer {
  readonly data: unknown | JsonText;
  readonly costNanos?: bigint;
  /** True when an earlier result of the same idempotency or deduplication key is returned. */
  readonly replayed?: boolean;
  /** Spendable balance after the call; billable calls only. */
  readonly balanceNanos?: bigint;
  /** Who did the work, when it was not this service. */
  readonly served?: Served;
  /** Of a model's call: whether its tokens were counted here, for the vendor has not told them. */
  readonly usageEstimated?: boolean;
}

/** How a vendor served a call, as `metadata` tells it (specification, metadata fields). */
export interface Served {
  readonly vendor: string;
  /** That of the service when absent. */
  readonly region?: 'china' | 'western';
  /** Share that was added to the vendor's price; 0 when absent. */
  readonly markupPct?: 0 | 0.05;
  /** `none` when absent. */
  readonly cacheLayer?: 'none' | 'l1_hit' | 'l1_miss' | 'l2_hit' | 'batch';
  /** When another vendor was asked first. */
  readonly failover?: Failover;
}

/** One executable example: `input` holds path, query and body fields together; tests run it in order of the list. */
export interface CapabilityExample {
  readonly title: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Calls made first, in order; `$N.path` in a later input takes a value from the data of the N-th (0-based) answer. */
  readonly before?: readonly {
    readonly capability: string;
    readonly input: Readonly<Record<string, unknown>>;
    /** It is refused with this code; later references to its answer take values from the error. */
    readonly refused?: string;
    /** It is called again, after a pause, until the answer's data contains these fields: what it asks for takes a while. */
    readonly until?: Readonly<Record<string, unknown>>;
  }[];
  /** Fields that the answer's data must contain with these values. */
  readonly expect?: Readonly<Record<string, unknown>>;
}

export interface CapabilityRun<Input, State> {
  readonly ctx: CallContext;
  readonly input: Input;
  readonly state: State;
}

/** What an author writes. `defineCapability` derives the rest, and fills in what is absent. */
export interface CapabilityDraft<In extends TObject = TObject, State = unknown, Out extends TSchema = TSchema> {
  /** Only where the path does not give it: its segments after /v1 without parameters, joined by dots (contract §1). */
  readonly id?: string;
  readonly method: HttpMethod;
  /** Below the root, with `{name}` parameters: `/v1/queue/get/{queue}`. */
  readonly path: string;
  readonly summary: string;
  /** Written for an agent: what it does, what to send, what to watch out for. */
  readonly description: string;
  /** What an engineer would type to find it, beside the words of its id and summary: "sqs send message". */
  readonly keywords?: readonly string[];
  /**
   * Path, query and body fields in one object; a name in the path is a path parameter, the rest is the query (GET, DELETE) or the
   * body. With `additionalProperties: true` the body is free-form: data that the capability cuts from `ctx.inputText`, whatever its names.
   */
  readonly input: In;
  /** Schema of `data`. */
  readonly output: Out;
  /** Free when absent. */
  readonly price?: 'free' | PriceName;
  /** What the call causes and is charged beside its own price when it happens, maybe without another call: the runs of a scheduled job, a result that is stored. */
  readonly laterPrices?: readonly PriceName[];
  /** A read by POST: its input is too long for a query string (contract §2). */
  readonly isLongRead?: boolean;
  /** A write that removes or ends something for good, as every DELETE does. */
  readonly destructive?: boolean;
  /** A write that takes no idempotency key: repeating it is how it is used, as consume and ack are (contract §4). */
  readonly isKeyless?: boolean;
  /** Idempotent results kept this many days instead of one; `secret` ones are stored encrypted, for the API key that got them. */
  readonly replay?: { readonly keepDays?: number; readonly secret?: boolean };
  readonly status?: 'ga' | 'beta' | 'deprecated' | 'planned';
  /** Begins work that goes on after the call: the price is held, and charged when that ends. */
  readonly chargedAtEnd?: boolean;
  /** A key for such capabilities alone may stand where anybody reads it, as in the DSN of a web page: what it may spend has a bound. */
  readonly publishable?: boolean;
  /** Refused to a session: what it does belongs to an API key. */
  readonly needsKey?: boolean;
  /** Open to every valid key, whatever its scopes. */
  readonly anyKey?: boolean;
  /** It has rules of its own (`ctx.askFirst`), which may meet its calls in every account. */
  readonly asksFirst?: boolean;
  /** Its answer holds a secret: no cache on the way keeps it. `admins`: one that outlives the call, so it asks for the scope admin. */
  readonly answersSecret?: 'callers' | 'admins';
  /** Refused to a secret that was replaced and lives on for its grace: what could take the key over. */
  readonly currentSecretOnly?: boolean;
  /** `operator`: it is the operator's account; `person`: somebody who signed in, not an API key; `recent_sign_in`: a person signed in lately, where it is a session that calls; `email`: an address is bound; `kyc`: its owner need not be verified, or is. Those of module operator need not be named. */
  readonly gates?: readonly Gate[];
  /** Hot operations that no rate limit touches (contract §6). */
  readonly unlimited?: boolean;
  /** Counted by a rate of its own (core/callers/tiers.ts), not as one of the free reads or writes. */
  readonly rate?: 'evaluations' | 'deletes';
  /** May wait for work (long poll): not counted among the running calls of the account. */
  readonly waits?: boolean;
  /** Body limit in bytes when it is not 64 KiB. More wants a content that needs it, and mostly `bulk`. */
  readonly bodyBytesMax?: number;
  /** For bodies that are long to read: `run` gets what it makes of the input, and `ctx.inputText` is empty. */
  readonly bulk?: BulkBody<Static<In>>;
  /**
   * Unknown fields are ignored with a warning, not refused: a report of a program that fails, which nobody mends and sends again.
   */
  readonly toleratesUnknownFields?: boolean;
  /** Headers that say what a field of the body may say too, each with a sentence; `run` finds what was sent in `ctx.sentHeaders`. */
  readonly readsHeaders?: Readonly<Record<string, string>>;
  /** Property names whose content is opaque data: not searched for hostile keys. */
  readonly opaque?: readonly string[];
  /** Codes beyond the common ones (400, 401, 402 for billable, 403, 404 of the path, 409 of idempotency, 429, 500, 503). */
  readonly errors?: readonly string[];
  /** Kinds of events that the call may tell. */
  readonly events?: readonly string[];
  /** Limits an agent should know, name to sentence. */
  readonly limits?: Readonly<Record<string, string>>;
  readonly examples: readonly CapabilityExample[];
  run(call: CapabilityRun<Static<In>, State>): Promise<Answer>;
}

/** A finished record: what surfaces read. */
export interface Capability<In extends TObject = TObject, State = unknown, Out extends TSchema = TSchema>
  extends CapabilityDraft<In, State, Out> {
  /** `<module>.<operation>`, as on the wire. */
  readonly id: string;
  readonly price: 'free' | PriceName;
  readonly scope: ScopeKind;
  readonly destructive: boolean;
  /** Takes an idempotency key (x-svc-idempotent). */
  readonly idempotent: boolean;
  readonly errors: readonly string[];
  readonly events: readonly string[];
}

/** Types `input` in `run` by the schema and `state` by the module, and completes the record. */
export function defineCapability<State = unknown>() {
  return <In extends TObject, Out extends TSchema>(
    draft: CapabilityDraft<In, State, Out>,
  ): Capability<In, State, Out> => {
    const id = draft.id ?? idFromPath(draft.path);
    const gates = gatesOf(id, draft);
    return {
      ...draft,
      id,
      price: draft.price ?? 'free',
      scope: scopeOf(id, draft),
      destructive: draft.destructive ?? draft.method === 'DELETE',
      idempotent: !isRead(draft) && draft.isKeyless !== true,
      errors: draft.errors ?? [],
      events: draft.events ?? [],
      ...(gates.length === 0 ? {} : { gates }),
    };
  };
}

/** A write of the account itself: the audit log has it. */
export function isAdministered(capability: Pick<Capability, 'id' | 'method' | 'isLongRead'>): boolean {
  return !isRead(capability) && administered.includes(moduleOf(capability.id));
}

function isRead({ method, isLongRead }: Pick<CapabilityDraft, 'method' | 'isLongRead'>): boolean {
  return method === 'GET' || isLongRead === true;
}

function scopeOf(id: string, draft: Pick<CapabilityDraft, 'method' | 'isLongRead' | 'answersSecret'>): ScopeKind {
  if (isRead(draft)) return draft.answersSecret === 'admins' ? 'admin' : 'read';
  return draft.answersSecret === 'admins' || isAdministered({ ...draft, id }) ? 'admin' : 'write';
}

/** What reaches into every account is for the operator alone, and changes only soon after a sign-in. */
function gatesOf(id: string, { method, gates = [] }: Pick<CapabilityDraft, 'method' | 'gates'>): readonly Gate[] {
  if (moduleOf(id) !== OPERATOR_MODULE) return gates;
  return method === 'GET' ? ['operator', ...gates] : ['operator', 'recent_sign_in', ...gates];
}

/** The segments after /v1 without parameters, joined by dots. */
function idFromPath(path: string): string {
  const segments = path.replace(/^\/v1\//, '').split('/');
  return segments.filter((segment) => !segment.startsWith('{')).join('.');
}

/** Names of the `{parameters}` in a path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] as string);
}

/** The name under which models call the capability as a tool: they take word characters and hyphens only. */
export function toolName(id: string): string {
  return id.replaceAll('.', '_');
}
