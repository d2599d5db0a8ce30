// Whether a mail domain has MX records, by the service's resolver. An answer never takes longer than 300 ms, questions are bounded, and
// what is not known in time is unknown; a late answer serves the next call.
import { Resolver } from 'node:dns/promises';
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

export class MailExchangers {
  readonly #isLocal: boolean;
  readonly #resolver = new Resolver({ timeout: TRY_MS, tries: 1 });
  readonly #known = new LRUCache<string, { readonly answer: boolean | null }>({ max: DOMAINS_KEPT, ttl: KEPT_MS });
  readonly #asked = new Map<string, Promise<boolean | null>>();

  /** @param servers `address:port` of name servers; null: those of the machine. */
  constructor(servers: readonly string[] | null) {
    this.#isLocal = servers !== null;
    if (servers !== null) this.#resolver.setServers(servers);
  }

  /** Null: not known. */
  async of(domain: string): Promise<boolean | null> {
    const known = this.#known.get(domain);
    if (known !== undefined) return known.answer;
    if (!this.#isLocal && RESERVED.test(domain)) return null;
    const asked = this.#asked.get(domain) ?? this.#begin(domain);
    if (asked === null) return null;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, WAIT_MS, null);
    });
    return Promise.race([asked, late]).finally(() => clearTimeout(timer));
  }

  close(): void {
    this.#resolver.cancel();
  }

  #begin(domain: string): Promise<boolean | null> | null {
    if (this.#asked.size >= QUESTIONS_MAX) return null;
    const asked = this.#ask(domain).then((answer) => {
      this.#asked.delete(domain);
      this.#known.set(domain, { answer }, { ttl: answer === null ? UNKNOWN_KEPT_MS : KEPT_MS });
      return answer;
    });
    this.#asked.set(domain, asked);
    return asked;
  }

  async #ask(domain: string): Promise<boolean | null> {
    try {
      const hosts = await this.#resolver.resolveMx(domain);
      // RFC 7505: a single empty exchange says that the domain takes no mail.
      return hosts.some(({ exchange }) => exchange !== '' && exchange !== '.');
    } catch (error) {
      return NONE.has((error as NodeJS.ErrnoException).code ?? '') ? false : null;
    }
  }
}
