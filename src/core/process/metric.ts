/** A value for /metrics. Metrics of one name have one help text; a name that ends in `_total` only grows. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
