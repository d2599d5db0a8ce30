// What counts must be, computed from all calls: slow, and without steps, sums or hashes.
const STEP_MS = { '1m': 1_000, '1h': 60_000, '24h': 24 * 60_000, '7d': 168 * 60_000 };
const names = { ip: 'ips', email: 'emails', user_id: 'users', device_id: 'devices' } as const;
const kinds = { ip: 'ip', email: 'email', user_id: 'user', device_id: 'device' } as const;
type Field = keyof typeof names;
type Sent = Partial<Record<string, string>>;

export class CountModel {
  readonly #calls: { readonly sent: Sent; readonly ms: number }[] = [];

  /** Adds a call, and answers the counts of its keys by kind. */
  count(sent: Sent, ms: number): Record<string, Record<string, number>> {
    this.#calls.push({ sent, ms });
    const fields = (Object.keys(kinds) as Field[]).filter((field) => sent[field] !== undefined);
    return Object.fromEntries(fields.map((field) => [kinds[field], this.#countsOf(field, sent[field] as string, ms)]));
  }

  #countsOf(field: Field, value: string, nowMs: number): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const [window, stepMs] of Object.entries(STEP_MS)) {
      const first = (Math.floor(nowMs / stepMs) - 59) * stepMs;
      const seen = this.#calls.filter(({ sent, ms }) => ms >= first && sent[field] === value);
      counts[`count_${window}`] = seen.length;
      for (const other of Object.keys(names) as Field[]) {
        if (other === field) continue;
        const partners = new Set(seen.flatMap(({ sent }) => sent[other] ?? []));
        counts[`${names[other]}_${window}`] = partners.size;
      }
    }
    return counts;
  }
}
