/** A value for /metrics. Figures of one name have one help text; a name that ends in `_total` only grows. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
