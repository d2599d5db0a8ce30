// Response rate limiting: UDP answers to one network in a second, so that a forged address gets no more out of this service. Beyond that every
// second question gets a truncated answer, no longer than itself, so that a real resolver comes by TCP.

export type Allowed = 'answer' | 'cut' | 'drop';

interface Bucket {
  tokens: number;
  atMs: number;
  isSecond: boolean;
}

/** Then all are forgotten: a full table allows each network one second's answers more. */
const NETWORKS_MAX = 50_000;

export class AnswerRate {
  readonly #perSecond: number;
  readonly #buckets = new Map<string, Bucket>();

  /** 0: no limit. */
  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  take(address: string, nowMs: number): Allowed {
    const most = this.#perSecond;
    if (most === 0) return 'answer';
    const network = networkOf(address);
    let bucket = this.#buckets.get(network);
    if (bucket === undefined) {
      if (this.#buckets.size >= NETWORKS_MAX) this.#buckets.clear();
      bucket = { tokens: most, atMs: nowMs, isSecond: false };
      this.#buckets.set(network, bucket);
    }
    bucket.tokens = Math.min(most, bucket.tokens + ((nowMs - bucket.atMs) * most) / 1_000);
    bucket.atMs = nowMs;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 'answer';
    }
    bucket.isSecond = !bucket.isSecond;
    return bucket.isSecond ? 'cut' : 'drop';
  }
}

/** The /24 of an IPv4 address, the /56 of an IPv6 address. */
export function networkOf(address: string): string {
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
  if (!plain.includes(':')) return plain.slice(0, plain.lastIndexOf('.'));
  const [head = '', tail] = plain.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined ? [] : tail.split(':');
  const groups =
    tail === undefined
      ? first
      : [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
  const [a = '0', b = '0', c = '0', d = '0'] = groups;
  return `${a}:${b}:${c}:${(Number.parseInt(d || '0', 16) >> 8).toString(16)}`;
}
