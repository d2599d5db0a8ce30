// MX lookups of mail domains, by the service's resolver. A call waits at most 300 ms, and the number of pending queries is bounded. A result
// that is not in by then is unknown; a late answer serves the next call.
import { Resolver } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

const WAIT_MS = 300;
const TRY_MS = 2_000;
const QUESTIONS_MAX = 100;
const DOMAINS_KEPT = 10_000;
const KEPT_MS = 3_600_000;
/** A name server that does not answer is asked again after this. */
const UNKNOWN_KEPT_MS = 30_000;
/** RFC 2606: servers of the world know none of these. */
const RESERVED = /(^|\.)(example|test|invalid|localhost|example\.(com|net|org))$/;
/** These say that there is none; every other failure says nothing. */
const NONE = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

type Answer = 'records' | 'none' | 'unknown';

export class MailExchangers {
  readonly #isLocal: boolean;
  readonly #resolver = new Resolver({ timeout: TRY_MS, tries: 1 });
  readonly #known = new LRUCache<string, Answer>({ max: DOMAINS_KEPT });
  readonly #asked = new Map<string, Promise<Answer>>();

  /** @param servers `address:port` of name servers; null: those of the machine. */
  constructor(servers: readonly string[] | null) {
    this.#isLocal = servers !== null;
    if (servers !== null) this.#resolver.setServers(servers);
  }

  /** Null: not known. */
  async of(domain: string): Promise<boolean | null> {
    if (!this.#isLocal && RESERVED.test(domain)) return null;
    const answer = this.#known.get(domain) ?? (await this.#inTime(domain));
    return answer === 'unknown' ? null : answer === 'records';
  }

  close(): void {
    this.#resolver.cancel();
  }

  async #inTime(domain: string): Promise<Answer> {
    if (!this.#asked.has(domain) && this.#asked.size >= QUESTIONS_MAX) return 'unknown';
    const asked = this.#asked.get(domain) ?? this.#ask(domain);
    this.#asked.set(domain, asked);
    return Promise.race([asked, pause(WAIT_MS, 'unknown' as const, { ref: false })]);
  }

  async #ask(domain: string): Promise<Answer> {
    const answer = await this.#resolver.resolveMx(domain).then(
      // RFC 7505: a single empty exchange says that the domain takes no mail.
      (hosts) => (hosts.some(({ exchange }) => exchange !== '' && exchange !== '.') ? 'records' : 'none'),
      (error: NodeJS.ErrnoException) => (NONE.has(error.code ?? '') ? 'none' : 'unknown'),
    );
    this.#asked.delete(domain);
    this.#known.set(domain, answer, { ttl: answer === 'unknown' ? UNKNOWN_KEPT_MS : KEPT_MS });
    return answer;
  }
}
