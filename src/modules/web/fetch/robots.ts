// robots.txt (RFC 9309): the allowed URLs of a site, its crawl delay and its sitemaps. Files are cached for an hour, so reading one takes no
// slot of its host. A file is cut to our groups before the library parses it, whose work grows with groups times rules.
import { LRUCache } from 'lru-cache';
import robotsParser from 'robots-parser';
import type { Services } from '../../../kit/services.ts';
import { isDisconnected } from '../../../problems/disconnected.ts';
import { Problem } from '../../../problems/problem.ts';
import {
  CRAWL_DELAY_MS_MAX,
  ROBOTS_BYTES_MAX,
  ROBOTS_FAILED_KEPT_MS,
  ROBOTS_KEPT_BYTES_MAX,
  ROBOTS_KEPT_MAX,
  ROBOTS_KEPT_MS,
  ROBOTS_MS,
  ROBOTS_RULES_MAX,
  ROBOTS_STEPS_MAX,
  URL_CHARACTERS_MAX,
} from '../limits.ts';
import { problem } from '../problems.ts';
import { get } from './request.ts';

// Its types describe a module of another kind than it is.
const parse = robotsParser as unknown as typeof robotsParser.default;

/** What groups call us. */
const TOKEN = 'quartermaster';
const SITEMAPS_MAX = 20;
const UNREACHED = new Set(['dns', 'connect', 'tls']);

/** What a site says. */
interface Rules {
  readonly delayMs: number;
  readonly sitemaps: readonly string[];
  /** About what it takes of memory. */
  readonly bytes: number;
  mayFetch(url: string): boolean;
}

export interface RobotsOptions {
  readonly obeys: boolean;
  readonly userAgent: string;
}

export class Robots {
  readonly #core: Services;
  readonly #options: RobotsOptions;
  readonly #known = new LRUCache<string, Rules>({
    max: ROBOTS_KEPT_MAX,
    maxSize: ROBOTS_KEPT_BYTES_MAX,
    sizeCalculation: ({ bytes }) => bytes,
  });
  readonly #asking = new Map<string, Promise<Rules>>();

  constructor(core: Services, options: RobotsOptions) {
    this.#core = core;
    this.#options = options;
  }

  /**
   * What the site of a URL asks for. `isPublicOnly`: of a page that may lead to public hosts alone. Throws ROBOTS_DISALLOWED when the URL may not
   * be fetched, and what a refused target throws.
   */
  async allow(url: string, signal: AbortSignal, isPublicOnly = false): Promise<{ delayMs: number }> {
    if (!this.#options.obeys) return { delayMs: 0 };
    const { origin } = new URL(url);
    const rules = await this.#rulesOf(origin, signal, isPublicOnly);
    if (rules === none) {
      throw problem('ROBOTS_DISALLOWED', {
        param: 'url',
        detail: 'robots_unreachable',
        message: `${origin}/robots.txt could not be read: it failed, or did not answer in time. Until it can be, nothing of the site may be fetched. It is asked for again after ${ROBOTS_FAILED_KEPT_MS / 1_000} s.`,
      });
    }
    if (!rules.mayFetch(url)) {
      throw problem('ROBOTS_DISALLOWED', { param: 'url', message: `${origin}/robots.txt does not allow this URL.` });
    }
    return { delayMs: rules.delayMs };
  }

  /** Addresses of sitemaps that a site names. */
  async sitemaps(origin: string, signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#rulesOf(origin, signal)).sitemaps;
  }

  async #rulesOf(origin: string, signal: AbortSignal, isPublicOnly = false): Promise<Rules> {
    const known = this.#known.get(origin);
    if (known !== undefined) return known;
    const key = `${isPublicOnly} ${origin}`;
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      asking = this.#ask(origin, signal, isPublicOnly).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    try {
      return await asking;
    } catch (error) {
      // Somebody else's call, which has ended.
      if (signal.aborted || !isAborted(error)) throw error;
      return this.#rulesOf(origin, signal, isPublicOnly);
    }
  }

  async #ask(origin: string, signal: AbortSignal, isPublicOnly: boolean): Promise<Rules> {
    const { userAgent } = this.#options;
    const url = `${origin}/robots.txt`;
    try {
      const got = await get(this.#core, url, {
        signal,
        userAgent,
        isPublicOnly,
        bytesMax: ROBOTS_BYTES_MAX,
        msMax: ROBOTS_MS,
      });
      const isThere = got.status >= 200 && got.status < 300;
      // 4xx: there are no rules. Anything else: nobody knows them (RFC 9309, section 2.3.1).
      const rules = isThere ? rulesOf(url, got.bytes.toString('utf8')) : got.status < 500 ? all : none;
      this.#known.set(origin, rules, { ttl: rules === none ? ROBOTS_FAILED_KEPT_MS : ROBOTS_KEPT_MS });
      return rules;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'TARGET_FAILED') throw error;
      // A site that cannot be reached is told as what it is, by whoever asks for the page.
      if (UNREACHED.has(error.detail ?? '')) return all;
      this.#known.set(origin, none, { ttl: ROBOTS_FAILED_KEPT_MS });
      return none;
    }
  }
}

const FEW_BYTES = 512;
const all: Rules = { delayMs: 0, sitemaps: [], bytes: FEW_BYTES, mayFetch: () => true };
const none: Rules = { delayMs: 0, sitemaps: [], bytes: FEW_BYTES, mayFetch: () => false };

/** By the leaving of the call that asks for several, or at its deadline. */
function isAborted(error: unknown): boolean {
  if (error instanceof Problem) return isDisconnected(error);
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}

/** Exported for tests. */
export function rulesOf(url: string, text: string): Rules {
  const { rules, delay, sitemaps } = ownLines(text);
  const parsed = parse(url, ['User-agent: *', ...rules].join('\n'));
  // The library compares a rule without a wildcard once, and one with a wildcard at every place of the path.
  const wild = rules.reduce((sum, rule) => (rule.includes('*') ? sum + rule.length : sum), 0);
  return {
    delayMs: Math.min(CRAWL_DELAY_MS_MAX, Number.isFinite(delay) && delay > 0 ? delay * 1_000 : 0),
    sitemaps,
    // A rule is kept as it was sent and as it is compared.
    bytes: FEW_BYTES + [...rules, ...sitemaps].reduce((sum, text) => sum + 2 * text.length + 100, 0),
    mayFetch: (target) => wild * target.length <= ROBOTS_STEPS_MAX && parsed.isAllowed(target, '*') !== false,
  };
}

/** The rules of the groups that name us; of those for everybody, when none does. Beyond so many rules the rest of a group is not read. */
function ownLines(text: string) {
  const groups = { own: newGroup(), everybody: newGroup() };
  const sitemaps: string[] = [];
  let current: Group[] = [];
  let isNaming = false;
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    const [, name = '', value = ''] = /^\s*([a-z-]+)\s*:([^#]{0,4096})/i.exec(line) ?? [];
    const field = name.toLowerCase();
    if (field === 'sitemap' && sitemaps.length < SITEMAPS_MAX) sitemaps.push(value.trim().slice(0, URL_CHARACTERS_MAX));
    if (field === 'user-agent') {
      if (!isNaming) current = [];
      isNaming = true;
      const agent = value.trim().toLowerCase().split('/')[0];
      const group = agent === TOKEN ? groups.own : agent === '*' ? groups.everybody : null;
      if (group !== null && !current.includes(group)) current.push(group);
      for (const each of current) each.isNamed = true;
      continue;
    }
    if (field === '' || field === 'sitemap') continue;
    isNaming = false;
    for (const group of current) take(group, field, value.trim());
  }
  return { ...(groups.own.isNamed ? groups.own : groups.everybody), sitemaps };
}

interface Group {
  isNamed: boolean;
  delay: number;
  readonly rules: string[];
}

const newGroup = (): Group => ({ isNamed: false, delay: 0, rules: [] });

function take(group: Group, field: string, value: string): void {
  if (field === 'crawl-delay') group.delay = Number(value);
  else if ((field === 'allow' || field === 'disallow') && group.rules.length < ROBOTS_RULES_MAX)
    group.rules.push(`${field}: ${value}`);
}
