// The one error type of the service: a code of a catalogue, and what the caller needs to fix the call.
// Every failure that reaches a caller is a Problem. Any other error becomes INTERNAL_ERROR and is logged.
import { type ProblemCatalogue, type ProblemCode, type ProblemEntry, sharedProblems } from './catalogue.ts';

/** Of a 429 or 503 of which nobody knows when it will be over: each of them says when to come again (contract §1). */
const RETRY_AFTER_MS = 5_000;

/** One field at fault; `param` is a path such as `vectors[3].embedding[7]`, `rule` the violated rule. */
export interface FieldError {
  readonly param: string;
  readonly rule: string;
  readonly message: string;
  /** The known name or value that is nearest to what was sent. */
  readonly did_you_mean?: string;
}

/** Of a 402: what the call needs, what there is, and what makes room. Amounts in nano-USD; null where the key may not see them. */
export interface Shortfall {
  readonly neededNanos: bigint;
  readonly leftNanos: bigint | null;
  /** Null also where there is none: the wallet has no cap. */
  readonly capNanos: bigint | null;
  /** When spending counts from zero again, epoch milliseconds of the database and counted from now; null: never. */
  readonly windowEndMs: number | null;
  readonly windowLeftMs: number | null;
  /** The capability that lifts it. */
  readonly liftedBy: string;
  /** What is left, for a call that can do with less; never told. */
  readonly roomNanos: bigint;
}

/** Of a call that waits for a person, or was denied by one. */
export interface ShownApproval {
  readonly approval_id: string;
  readonly status: string;
  /** Where a person decides. */
  readonly url: string;
  readonly expires_at: string;
  /** Where the caller waits for the decision. */
  readonly wait_url: string;
}

export interface ProblemOptions {
  /** Human-readable sentence for this very call; the catalogue's title when absent. */
  readonly message?: string;
  readonly detail?: string;
  readonly param?: string;
  /** The known name or value that is nearest to what was sent. */
  readonly didYouMean?: string | undefined;
  /**
   * Told only beside `retryable: true`: of the codes that are not, waiting alone mends nothing. When absent, a 429 or 503 tells a usual time.
   */
  readonly retryAfterMs?: number;
  /** Of a code that usually is worth a repeat, where this one is not. */
  readonly retryable?: false;
  readonly shortfall?: Shortfall;
  readonly approval?: ShownApproval;
  readonly errors?: readonly FieldError[];
  readonly cause?: unknown;
}

export class Problem extends Error {
  readonly code: string;
  readonly entry: ProblemEntry;
  readonly httpStatus: number;
  readonly retryable: boolean;
  readonly detail: string | undefined;
  readonly param: string | undefined;
  readonly didYouMean: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly shortfall: Shortfall | undefined;
  readonly approval: ShownApproval | undefined;
  readonly errors: readonly FieldError[] | undefined;

  constructor(code: string, entry: ProblemEntry, options: ProblemOptions = {}) {
    super(options.message ?? entry.title, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.entry = entry;
    this.httpStatus = entry.status;
    this.retryable = options.retryable ?? entry.retryable;
    this.detail = options.detail;
    this.param = options.param;
    this.didYouMean = options.didYouMean;
    this.retryAfterMs = this.retryable ? (options.retryAfterMs ?? usualWaitMs(entry)) : undefined;
    this.shortfall = options.shortfall;
    this.approval = options.approval;
    this.errors = options.errors;
  }
}

function usualWaitMs({ status }: ProblemEntry): number | undefined {
  return status === 429 || status === 503 ? RETRY_AFTER_MS : undefined;
}

/** Builds the Problem to throw: `throw problem('NOT_FOUND', { param: 'type' })`. */
export const problem = problemsWith({});

/** What builds Problems of the shared codes and of those of a module. */
export function problemsWith<Own extends ProblemCatalogue>(own: Own) {
  const catalogue: ProblemCatalogue = { ...sharedProblems, ...own };
  return (code: ProblemCode | (keyof Own & string), options?: ProblemOptions): Problem =>
    new Problem(code, catalogue[code] as ProblemEntry, options);
}

/** A validation failure of exactly one field (contract §1). `rule` is the code_detail. */
export function invalidField(param: string, rule: string, message: string): Problem {
  return problem('VALIDATION_FAILED', { param, detail: rule, message, errors: [{ param, rule, message }] });
}
