// A service's public manifest, cached by address in the cache directory. It is used for the five minutes that the service's Cache-Control
// allows, then revalidated by ETag.
import { createHash } from 'node:crypto';
import { stat, utimes } from 'node:fs/promises';
import type { JsonSchema } from '../../manifest/json-schema.ts';
import { CommandError } from '../output.ts';
import { cachePath, readIfThere, writeWhole } from './files.ts';
import { readText, send } from './http.ts';

/** As the service's Cache-Control says. */
const FRESH_MS = 5 * 60_000;
/** A name that is not known may be newer than what is kept. */
const FRESH_FOR_UNKNOWN_MS = 60_000;
const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;
const SILENCE_MS = 30_000;
/** Raised when the shape of what is kept changes. */
const FORMAT = 2;

export interface OfferedCapability {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  /** `0.00002 USD a message`, or `free`. */
  readonly price: string;
  readonly scope: string;
  readonly idempotent: boolean;
  readonly schema: JsonSchema;
  /** It answers with Server-Sent Events for as long as somebody reads. */
  readonly stream?: true;
}

export interface Discovery {
  readonly capabilities: Readonly<Record<string, OfferedCapability>>;
  readonly events: readonly string[];
  /** What to do, by error code. */
  readonly advice: Readonly<Record<string, string>>;
}

interface Kept extends Discovery {
  readonly format: number;
  readonly etag: string;
}

/** @param freshMs how old what is kept may be without asking again */
export async function discoveryOf(url: string, freshMs = FRESH_MS): Promise<Discovery> {
  const kept = await readKept(url);
  if (kept !== null && kept.ageMs < freshMs) return kept.discovery;
  const answer = await send(`${url}/.well-known/quartermaster.json`, {
    headers: {
      'accept-encoding': 'gzip',
      ...(kept === null ? {} : { 'if-none-match': kept.discovery.etag }),
    },
    silenceMs: SILENCE_MS,
  });
  const text = await readText(answer, MANIFEST_BYTES_MAX);
  if (answer.statusCode === 304 && kept !== null) {
    await keep(() => utimes(fileOf(url), new Date(), new Date()));
    return kept.discovery;
  }
  if (answer.statusCode !== 200)
    throw new CommandError(`${url} does not tell what it offers: status ${answer.statusCode}. Is the address right?`);
  const found: Kept = { format: FORMAT, etag: answer.headers.etag ?? '', ...discoveryIn(text, url) };
  await keep(() => writeWhole(fileOf(url), JSON.stringify(found)));
  return found;
}

/** A cache that cannot be written costs time, no more. */
async function keep(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    process.stderr.write(`warning: what the service offers cannot be kept: ${(error as Error).message}\n`);
  }
}

/** The same for a name that is not in it: asked for again unless that was just done. */
export const discoveryForUnknown = (url: string) => discoveryOf(url, FRESH_FOR_UNKNOWN_MS);

/** What is kept, without asking; null: nothing. */
export async function keptDiscovery(url: string): Promise<Discovery | null> {
  return (await readKept(url))?.discovery ?? null;
}

async function readKept(url: string): Promise<{ readonly discovery: Kept; readonly ageMs: number } | null> {
  const text = await readIfThere(fileOf(url));
  if (text === null) return null;
  const { mtimeMs } = await stat(fileOf(url));
  try {
    const discovery = JSON.parse(text) as Kept;
    return discovery.format === FORMAT ? { discovery, ageMs: Math.abs(Date.now() - mtimeMs) } : null;
  } catch {
    // Only a copy: it is fetched again.
    return null;
  }
}

function fileOf(url: string): string {
  return cachePath(`discovery-${createHash('sha256').update(url).digest('hex').slice(0, 16)}.json`);
}

interface Manifest {
  readonly capabilities: readonly {
    readonly id: string;
    readonly method: string;
    readonly path: string;
    readonly summary: string;
    readonly billable: boolean;
    readonly pricing: { readonly unit: string; readonly price_usd: number };
    readonly scope: string;
    readonly idempotent: boolean;
    readonly request_schema: JsonSchema;
  }[];
  /** A service before 0.1.0 tells none. */
  readonly streams?: readonly {
    readonly id: string;
    readonly method: string;
    readonly path: string;
    readonly summary: string;
    readonly scope: string;
    readonly query_schema: JsonSchema;
  }[];
  readonly errors: readonly { readonly code: string; readonly advice: string }[];
  readonly events: readonly { readonly type: string }[];
}

function discoveryIn(text: string, url: string): Discovery {
  try {
    const { capabilities, streams = [], errors, events } = JSON.parse(text) as Manifest;
    const called = capabilities.map(
      ({ id, method, path, summary, billable, pricing, scope, idempotent, request_schema: schema }) => {
        const price = billable ? `${decimal(pricing.price_usd)} USD a ${pricing.unit}` : 'free';
        return [id, { method, path, summary, price, scope, idempotent, schema }] as const;
      },
    );
    const followed = streams.map(({ id, method, path, summary, scope, query_schema: schema }) => {
      return [id, { method, path, summary, price: 'free', scope, idempotent: false, schema, stream: true }] as const;
    });
    return {
      capabilities: Object.fromEntries<OfferedCapability>([...called, ...followed]),
      events: events.map(({ type }) => type),
      advice: Object.fromEntries(errors.map(({ code, advice }) => [code, advice])),
    };
  } catch (cause) {
    throw new CommandError(`${url} does not tell what it offers: its manifest cannot be read`, { cause });
  }
}

/** Prices are finer than what JavaScript writes without an exponent. */
function decimal(usd: number): string {
  return usd.toFixed(9).replace(/\.?0+$/, '');
}
