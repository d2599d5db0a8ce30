// The JSON envelope of every answer under /v1. It is built as text: data may be JSON text already, and the fixed parts of metadata are prepared
// once.
import { scopesAllow } from '../core/callers/scopes.ts';
import type { Answer, Served } from '../kit/capability.ts';
import type { JsonText } from '../lib/json-text.ts';
import { toJson } from '../lib/json-text.ts';
import { usd } from '../lib/money.ts';
import { iso } from '../lib/time.ts';
import type { Problem } from '../problems/problem.ts';
import { renderProblem } from '../problems/render.ts';
import type { Call } from './call.ts';

export interface EnvelopeOptions {
  readonly baseUrl: string;
  readonly region: 'western' | 'china';
  readonly workerId: string;
  readonly cnyPerUsd: number;
}

/** What an answer says about itself when there is no call behind it (unknown routes, unreadable requests). */
export interface Identity {
  readonly requestId: string;
  readonly traceId: string;
  readonly startedMs: number;
  readonly entryForm: string;
  readonly warnings: readonly string[];
  /** What the calls that it made have cost. */
  readonly spentNanos?: bigint;
  /** Of a failure that was charged all the same. */
  readonly usageEstimated?: boolean | undefined;
  /** It stands in the request log, and its caller may read that. */
  readonly readsLog?: boolean;
}

/** The capability whose scope lets a key see the balance. */
const BALANCE = 'account.balance';

export class Envelope {
  readonly #options: EnvelopeOptions;
  /** What is told of every call that this service serves itself. */
  readonly #own: string;
  readonly #process: string;

  constructor(options: EnvelopeOptions) {
    this.#options = options;
    this.#own = servedText({ vendor: 'self' }, options.region);
    this.#process = `"edge_pop":"local","worker_id":${JSON.stringify(options.workerId)},"idempotent_replay":`;
  }

  success(call: Call, answer: Answer): string {
    const data = toJson(answer.data as JsonText);
    return `{"ok":true,"data":${data},"metadata":${this.metadata(call, answer)}}`;
  }

  failure(identity: Identity, failure: Problem): string {
    const error = renderProblem(failure, identity, this.#options.baseUrl);
    return `{"ok":false,"error":${JSON.stringify(error)},"metadata":${this.#metadata(identity, null)}}`;
  }

  /** What `metadata` tells of an answer, as JSON text: for protocols with an envelope of their own. */
  metadata(call: Call, answer: Answer): string {
    const isShown = scopesAllow(call.principal.scopes, BALANCE, 'read');
    const balanceNanos = isShown ? (answer.balanceNanos ?? call.leftNanos) : undefined;
    return this.#metadata(call, balanceNanos === answer.balanceNanos ? answer : { ...answer, balanceNanos });
  }

  /** The same of a failure. */
  failureMetadata(identity: Identity): string {
    return this.#metadata(identity, null);
  }

  /** RFC 9457 form of a failure, for callers that accept application/problem+json. */
  problemJson(identity: Identity, failure: Problem): string {
    const error = renderProblem(failure, identity, this.#options.baseUrl);
    return JSON.stringify({
      type: error.docs_url,
      title: failure.code,
      status: error.http_status,
      detail: error.message,
      instance: identity.requestId,
      ...error,
    });
  }

  #metadata(identity: Identity, answer: Answer | null): string {
    const cost = usd((answer?.costNanos ?? 0n) + (identity.spentNanos ?? 0n));
    const latency = Math.max(0, Math.round(performance.now() - identity.startedMs));
    const balance = answer?.balanceNanos === undefined ? '' : `,"balance_usd":${usd(answer.balanceNanos)}`;
    const served = answer?.served === undefined ? this.#own : servedText(answer.served, this.#options.region);
    const estimated = answer?.usageEstimated ?? identity.usageEstimated;
    const usage = estimated === undefined ? '' : `,"usage_estimated":${estimated}`;
    const warnings = identity.warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(identity.warnings)}`;
    return (
      `{"request_id":"${identity.requestId}","trace_id":"${identity.traceId}","timestamp":"${iso(Date.now())}",` +
      `"latency_ms":${latency},"entry_form":"${identity.entryForm}","cost_usd":${cost},` +
      `"cost_cny":${cost === 0 ? 0 : Number((cost * this.#options.cnyPerUsd).toFixed(9))},${served}${this.#process}${answer?.replayed === true}${failoverText(answer?.served)}${balance}${usage}${warnings}}`
    );
  }
}

function servedText({ vendor, region, markupPct = 0, cacheLayer = 'none' }: Served, ownRegion: string): string {
  return (
    `"vendor":${JSON.stringify(vendor)},"vendor_region":"${region ?? ownRegion}","markup_pct":${markupPct},` +
    `"cache_layer":"${cacheLayer}",`
  );
}

function failoverText(served: Served | undefined): string {
  if (served?.failover === undefined) return '';
  const { primaryVendor, primaryModel, actualModel, costAtPrimaryNanos, costAtActualNanos, reason, depth } =
    served.failover;
  const atPrimary = usd(costAtPrimaryNanos);
  const atActual = usd(costAtActualNanos);
  const info = {
    primary_vendor: primaryVendor,
    actual_vendor: served.vendor,
    primary_model: primaryModel,
    actual_model: actualModel,
    cost_at_primary: atPrimary,
    cost_at_actual: atActual,
    // What was free has no multiple.
    cost_multiplier: atPrimary === 0 ? 1 : Number((atActual / atPrimary).toFixed(6)),
    failover_reason: reason,
    fallback_chain_depth: depth,
  };
  return `,"failover_info":${JSON.stringify(info)}`;
}
