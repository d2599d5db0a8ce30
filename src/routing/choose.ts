// Chooses the vendors of a request, their order and the price (contract, vendors §2): a pure function of the rows of the vendors file. Health
// is not considered: a vendor that is down is skipped when its turn comes, so the chain of a request can be frozen.
import { nearest } from '../lib/nearest.ts';
import { type Problem, problem } from '../problems/problem.ts';
import { type ModelRow, SANDBOX, type Vendor, type VendorRegion } from '../vendors/file/port.ts';

const CHAIN_MAX = 3;
/** Models named by where they stand in an order. */
const ORDERS = ['auto', 'cheapest', 'smartest'] as const;
type Order = (typeof ORDERS)[number];

/** What a caller asks for. `Why`: what the module says of a model that cannot do it. */
export interface Wish<Why> {
  readonly capability: string;
  /** `auto`, `cheapest`, `smartest`, `vendor/model` or `model`; null is `auto`. */
  readonly model: string | null;
  /** Pins the vendor too. */
  readonly vendor: string | null;
  readonly crossRegion: boolean;
  /** Null for a model that can do the whole request. */
  unable(row: ModelRow): Why | null;
  /** What the request costs the caller there, nano-USD with markup. */
  quote(row: ModelRow): bigint;
  /** What they stand in for costs so much: those above 1.5 x of it are left out; when absent, of the first. */
  readonly primaryNanos?: bigint;
  /** What `cheapest` compares; the quote when absent. */
  compared?(row: ModelRow): bigint;
}

export interface Market {
  readonly vendors: readonly Vendor[];
  readonly rows: readonly ModelRow[];
  readonly region: VendorRegion;
  /** Vendors that the account never wants to be routed to. */
  readonly excluded: ReadonlySet<string>;
  readonly nowMs: number;
}

/** One vendor that may be asked. `model` is its own name for it; the rest is of the row, as it is now. */
export interface Candidate {
  readonly vendor: string;
  readonly model: string;
  readonly region: VendorRegion;
  readonly markupPct: Vendor['markupPct'];
  readonly quoteNanos: bigint;
  readonly priceVersion: string;
  readonly row: ModelRow;
}

export type Choice<Why> =
  /** One to three, in the order in which they are asked. */
  | { readonly kind: 'chain'; readonly chain: readonly [Candidate, ...Candidate[]] }
  /** These models may be asked, but none of them can do the request. */
  | { readonly kind: 'unable'; readonly models: readonly { readonly row: ModelRow; readonly why: Why }[] };

/** Throws INVALID_REQUEST, MODEL_NOT_FOUND and VENDOR_NOT_AVAILABLE. */
export function choose<Why>(wish: Wish<Why>, market: Market): Choice<Why> {
  const named = readNames(wish, market);
  const open = openRows(wish, named, market);
  const judged = open.map((row) => ({ row, why: wish.unable(row) }));
  const { primaryNanos } = wish;
  const able = judged
    .flatMap(({ row, why }) => (why === null ? [candidateOf(row, wish.quote(row))] : []))
    .filter((one) => primaryNanos === undefined || isNear(one, primaryNanos));
  const ordered = inOrder(able, named.order, wish.compared?.bind(wish));
  const [first] = ordered;
  if (first === undefined) {
    return { kind: 'unable', models: judged.map(({ row, why }) => ({ row, why: why as Why })) };
  }
  if (named.vendor !== null) return { kind: 'chain', chain: [first] };
  const near = ordered.slice(1).filter((one) => isNear(one, primaryNanos ?? first.quoteNanos));
  return { kind: 'chain', chain: [first, ...near.slice(0, CHAIN_MAX - 1)] };
}

interface Named {
  readonly vendor: string | null;
  /** Null: an order decides. */
  readonly model: string | null;
  readonly order: Order;
}

/** The text before the first `/` pins a vendor only when a vendor has that id; else the whole is the id of a model. */
function readNames({ model: asked, vendor }: Pick<Wish<unknown>, 'model' | 'vendor'>, { vendors }: Market): Named {
  const text = asked ?? 'auto';
  const order = ORDERS.find((word) => word === text);
  if (order !== undefined) return { vendor, model: null, order };
  const slash = text.indexOf('/');
  const pinned = vendors.find(({ id }) => slash > 0 && id === text.slice(0, slash))?.id ?? null;
  if (pinned === null) return { vendor, model: text, order: 'auto' };
  if (vendor !== null && vendor !== pinned) {
    const message = `model names the vendor ${pinned}, and vendor names ${quotedText(vendor)}.`;
    throw problem('INVALID_REQUEST', { param: 'vendor', message });
  }
  return { vendor: pinned, model: text.slice(slash + 1), order: 'auto' };
}

/** The rows that the names fit and that may be asked at all. */
function openRows(
  { capability, crossRegion }: Pick<Wish<unknown>, 'capability' | 'crossRegion'>,
  named: Named,
  market: Market,
): ModelRow[] {
  const serving = market.rows.filter(
    ({ serves, validUntilMs }) => serves.includes(capability) && (validUntilMs === null || validUntilMs > market.nowMs),
  );
  const fitting = rowsNamed(serving, named, capability);
  const { excluded, region } = market;
  const taking = fitting.filter(({ vendor }) => vendor.disabled === null);
  if (taking.length === 0) {
    const [one] = new Set(fitting.map(({ vendor }) => vendor.id));
    throw notAvailable('disabled', named, `${who(named, one)} takes no work on this service at present.`);
  }
  const wanted = taking.filter(({ vendor }) => !excluded.has(vendor.id));
  if (wanted.length === 0) throw notAvailable('excluded', named, 'The routing of the account excludes the vendor.');
  const near = wanted.filter(({ vendor }) => crossRegion || vendor.region === region);
  if (near.length > 0) return near;
  const message = `Nothing that could serve the call is in this region, ${region}. With cross_region true it may go elsewhere.`;
  throw notAvailable('region', named, message);
}

function rowsNamed(serving: readonly ModelRow[], { vendor, model }: Named, capability: string): readonly ModelRow[] {
  const there = vendor === null ? serving : serving.filter((row) => row.vendor.id === vendor);
  if (serving.length === 0) {
    const message = `No vendor is configured for ${capability}.`;
    throw problem('VENDOR_NOT_AVAILABLE', { detail: 'no_vendor_configured', message });
  }
  if (there.length === 0) {
    const ids = [...new Set(serving.map((row) => row.vendor.id))].join(', ');
    const message = `The vendor ${quotedText(vendor ?? '')} does not serve ${capability}; ${ids} ${ids.includes(',') ? 'do' : 'does'}.`;
    throw problem('VENDOR_NOT_AVAILABLE', { param: 'vendor', message });
  }
  const fitting = model === null ? there : there.filter(({ id }) => id === model);
  if (fitting.length === 0) throw nobodyHas(model ?? '', there, vendor);
  if (vendor !== null) return fitting;
  // Where there is another vendor the sandbox must be named: no real request becomes a made-up result.
  const real = fitting.filter((row) => row.vendor.id !== SANDBOX);
  return real.length > 0 ? real : fitting;
}

function nobodyHas(model: string, there: readonly ModelRow[], vendor: string | null): Problem {
  const names = [...new Set(there.flatMap((row) => (vendor === null ? [row.id, nameOf(row)] : [nameOf(row)])))];
  const said = `There is no model ${quotedText(model)}${vendor === null ? '' : ` at ${vendor}`}.`;
  return modelNotFound(said, vendor === null ? model : `${vendor}/${model}`, names);
}

const NAMED_MAX = 3;

/** MODEL_NOT_FOUND. `said`: what is missing, as a sentence; those of `names` that are near to `model` follow it, else some of all. */
export function modelNotFound(said: string, model: string, names: readonly string[]): Problem {
  const spelt = nearest(model, names, NAMED_MAX);
  const near = spelt.length > 0 ? spelt : ofFamily(model, names);
  const [first] = near;
  const more = names.length > NAMED_MAX ? ', …' : '';
  const all = names.length === 0 ? '' : ` There are ${names.slice(0, NAMED_MAX).join(', ')}${more}.`;
  const hint = first === undefined ? all : ` Did you mean ${near.join(', ')}?`;
  return problem('MODEL_NOT_FOUND', { param: 'model', message: `${said}${hint}`, didYouMean: first });
}

/** Models whose name begins with the same word, as `gpt` and `claude` do. */
function ofFamily(model: string, names: readonly string[]): string[] {
  const family = (name: string) =>
    name
      .slice(name.indexOf('/') + 1)
      .split(/[-.:_\s\d]/, 1)[0]
      ?.toLowerCase() ?? '';
  const wanted = family(model);
  return wanted.length < 3 ? [] : names.filter((name) => family(name) === wanted).slice(0, NAMED_MAX);
}

/** `vendor/model`: how a model is named in answers. */
export function nameOf({ vendor, id }: ModelRow): string {
  return `${vendor.id}/${id}`;
}

function candidateOf(row: ModelRow, quoteNanos: bigint): Candidate {
  const { id: vendor, region, markupPct } = row.vendor;
  return { vendor, model: row.id, region, markupPct, quoteNanos, priceVersion: row.priceVersion, row };
}

/** Not dearer than 1.5 x of it. */
function isNear({ quoteNanos }: Candidate, primaryNanos: bigint): boolean {
  return quoteNanos * 2n <= primaryNanos * 3n;
}

function inOrder(
  able: readonly Candidate[],
  order: Order,
  compared: ((row: ModelRow) => bigint) | undefined,
): Candidate[] {
  const flagships = able.filter(({ row }) => row.flagship);
  const pool = order === 'smartest' && flagships.length > 0 ? flagships : able;
  const byPriority = (a: Candidate, b: Candidate) => a.row.vendor.priority - b.row.vendor.priority;
  const byQuote = (a: Candidate, b: Candidate) => Number(a.quoteNanos - b.quoteNanos);
  const byName = (a: Candidate, b: Candidate) => (nameOf(a.row) < nameOf(b.row) ? -1 : 1);
  const prices = new Map(pool.map((one) => [one, compared?.(one.row) ?? one.quoteNanos]));
  const priceOf = (one: Candidate) => prices.get(one) as bigint;
  const byPrice = (a: Candidate, b: Candidate) => Number(priceOf(a) - priceOf(b));
  const [before, after] = order === 'cheapest' ? [byPrice, byPriority] : [byPriority, byQuote];
  return [...pool].sort((a, b) => before(a, b) || after(a, b) || byName(a, b));
}

function notAvailable(detail: string, { vendor, model }: Named, message: string): Problem {
  const param = vendor !== null ? { param: 'vendor' } : model !== null ? { param: 'model' } : {};
  return problem('VENDOR_NOT_AVAILABLE', { ...param, detail, message });
}

function who({ vendor }: Named, only: string | undefined): string {
  return vendor === null && only === undefined ? 'Whoever could serve the call' : `The vendor ${vendor ?? only}`;
}

const quotedText = (text: string) => JSON.stringify(text.slice(0, 100));
