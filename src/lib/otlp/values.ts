// Value types shared by OTLP's signals (opentelemetry-proto 1.7, common.proto and resource.proto): attribute values, and their limits per
// request. Protobuf and JSON decode to the same values.

/** An AnyValue. Bytes are base64; whole numbers beyond 2^53 are decimal text, as in OTLP's JSON; so are NaN and the infinities. */
export type OtlpValue = string | number | boolean | null | readonly OtlpValue[] | OtlpMembers;
export interface OtlpMembers {
  readonly [name: string]: OtlpValue;
}

/** Attributes in the order in which they were sent; of a name that comes twice the last value counts. */
export type OtlpAttributes = Map<string, OtlpValue>;

export interface OtlpScope {
  readonly name: string;
  readonly version: string;
  readonly attributes: OtlpAttributes;
}

/** The body is not what its content type says. */
export class OtlpError extends Error {}

/** Levels of lists and maps within an AnyValue. */
export const DEPTH_MAX = 16;
/** Values of one request: attributes, and what lies within them. 10,000 records of 128 attributes have fewer. */
const VALUES_MAX = 1_500_000;

/** What one request may still bring. */
export class OtlpBudget {
  #left = VALUES_MAX;

  take(): void {
    this.#left -= 1;
    if (this.#left < 0) throw new OtlpError(`a request may hold at most ${VALUES_MAX} attributes and nested values`);
  }

  enter(depth: number): number {
    if (depth >= DEPTH_MAX) throw new OtlpError(`values may be nested ${DEPTH_MAX} levels deep`);
    return depth + 1;
  }
}

/** A number that JSON has no digits for is text. */
export function plainNumber(value: number): OtlpValue {
  return Number.isFinite(value) ? value : String(value);
}

const NO_ID = /^0*$/;

/** A trace or span ID in lower-case hex; null where it is empty or all zeros, which says that there is none. */
export function idOf(hex: string): string | null {
  return NO_ID.test(hex) ? null : hex;
}
