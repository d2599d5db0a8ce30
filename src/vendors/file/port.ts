// Vendors and their models, as the operator's file configures them. A family is what one module adds: the capabilities that vendors may
// serve for it, and the file format of its models and prices.
import type { TObject, TSchema } from 'typebox';
import type { OutboundClient } from '../http/port.ts';

export type VendorRegion = 'western' | 'china';

/** The vendor that is built in: it does no outside work, and no failover leads to it. */
export const SANDBOX = 'sandbox';

/** A key that texts and logs made of it do not show. */
export interface VendorKey {
  /** What may be stored and shown: `FAL_KEY`, or `file:/run/secrets/fal`. */
  readonly name: string;
  reveal(): string;
}

export interface Vendor {
  readonly id: string;
  /** Which wire protocol it speaks; `sandbox` for the one that is built in. */
  readonly adapter: string;
  /** Without a trailing slash; empty for the sandbox. */
  readonly baseUrl: string;
  readonly region: VendorRegion;
  /** Null: it asks for none. */
  readonly key: VendorKey | null;
  /** Of an entry without models: its secrets by the name of their field. */
  readonly secrets?: Readonly<Record<string, VendorKey>>;
  readonly markupPct: 0 | 0.05;
  /** What we ask of it at most, at once and in a minute; null: as much as there is. */
  readonly limits: { readonly concurrent: number | null; readonly perMinute: number | null };
  /** `host`, or `host:port`: where it keeps what it makes. */
  readonly assetHosts: readonly string[];
  /** Lower goes first. */
  readonly priority: number;
  /** Why it takes no new work; null: it takes some. */
  readonly disabled: 'by the operator' | 'its key is missing' | null;
}

/** One model at one vendor, with what it costs there. */
export interface ModelRow {
  readonly vendor: Vendor;
  readonly id: string;
  /** Name of the module whose capabilities it serves. */
  readonly family: string;
  readonly serves: readonly string[];
  readonly flagship: boolean;
  /** From then on it is not offered; null: no end is known. Epoch milliseconds. */
  readonly validUntilMs: number | null;
  /** `free`, or as the family writes it; amounts are USD as in the file. */
  readonly price: unknown;
  /** Digest of the row: another price has another one. */
  readonly priceVersion: string;
  /** What the family adds, under the names of the file. */
  readonly traits: Readonly<Record<string, unknown>>;
  /** What the adapter adds, in the same way. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Milliseconds by the name in the file; those of the model before those of the vendor. */
  readonly timeouts: Readonly<Record<string, number>>;
}

/** A field of a model, or of the vendor where it stands, and what is wrong with it. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** What a module says of the models that vendors may have for it. */
export interface ModelFamily {
  /** The module's name: its capabilities begin with it. */
  readonly name: string;
  /** Those that vendors may serve. */
  readonly capabilities: readonly string[];
  /** Meant by a row that fits several families and does not say what it serves, as files of earlier releases have them. */
  readonly isAssumed?: true;
  /** Its own fields of a model, in the names of the file. */
  readonly traits: TObject;
  /** Of `price`; `free` may stand there in any case. */
  readonly price: TSchema;
  /** Names under `timeouts`. */
  readonly timeouts: readonly string[];
  /** Entries of `models` for the sandbox. */
  readonly sandbox: readonly { readonly id: string; readonly price: unknown; readonly [field: string]: unknown }[];
  /** What a model serves when its row does not say. */
  serves(traits: Readonly<Record<string, unknown>>): readonly string[];
  /** What the schemas cannot say, and what the row's adapter cannot do. Not asked of the sandbox. */
  faults?(row: ModelRow, adapter: Adapter): readonly FieldFault[];
  /** What is wrong with the rows of the file together, those of the sandbox left out; null: nothing. */
  wholeFault?(rows: readonly ModelRow[]): string | null;
  /** Capabilities of which an account may exclude vendors; absent: none. */
  readonly routable?: Routable;
  /** The least that a unit of it costs the caller, nano-USD with markup: what discovery shows. */
  lowestNanos(row: ModelRow): bigint;
  /** What a vendor bills for what it says that a call used, nano-USD without markup; absent: that is not told by call. */
  billedNanos?(row: ModelRow, usage: unknown): bigint;
  /** Every wire that it speaks. One set for a process: some remember what callbacks are signed with. */
  adapters(): readonly Adapter[];
  /** One real call of the model, the smallest there is; absent: there is no such thing. */
  tryOut?(row: ModelRow, adapter: Adapter, options: TryOutOptions): Promise<TryOut>;
}

export interface Routable {
  readonly capabilities: readonly string[];
  /** What a sample request costs there, nano-USD with markup; null: `auto` never leads there. */
  sampleNanos(capability: string, row: ModelRow): bigint | null;
}

export interface TryOutOptions {
  readonly outbound: OutboundClient;
  /** What happens on the way. */
  say(line: string): void;
}

/** Of one real call. */
export interface TryOut {
  readonly ok: boolean;
  /** How it ended. */
  readonly message: string;
  /** What the vendor says that it used, for the family's `billedNanos`; null: nothing. */
  readonly usage?: unknown;
}

/** The code of a wire protocol, as far as the file is concerned. */
export interface Adapter {
  /** As in `adapter:`. */
  readonly name: string;
  /** Where its vendor usually is; without one the entry must say. */
  readonly baseUrl?: string;
  /** Fields of a model that only it has, by their name in the file. */
  readonly modelFields: Readonly<Record<string, TSchema>>;
  /** Of vendors without models. Such an entry is one row, whose id is the name of the adapter. */
  readonly modelless?: ModellessForm;
}

/** What an entry without models has beside what all entries have. */
export interface ModellessForm {
  /** Its own fields, `price` among them when callers pay the vendor's; without one the row is `free`. */
  readonly fields: Readonly<Record<string, TSchema>>;
  /** Required fields that stand as `${NAME}` or `{file: PATH}`. */
  readonly secrets: readonly string[];
  /** Protocols of its required `url`, such as `smtp:`; it may stand as a secret too, for it may hold a password. Absent: it takes `base_url`. Empty: neither. */
  readonly protocols?: readonly string[];
}

export interface VendorsFile {
  /** In the order of the file, the sandbox last. */
  readonly vendors: readonly Vendor[];
  readonly rows: readonly ModelRow[];
  /** Sentences for the log: what was left out, and why. */
  readonly warnings: readonly string[];
  /** Equal on processes that work with the same file. Says nothing of keys. */
  readonly digest: string;
}
