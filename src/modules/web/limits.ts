// Limits of the web module (contract of web).
const KIB = 1024;
const MIB = 1024 * KIB;

// A page on its way.
export const PAGE_BYTES_MAX = 10 * MIB;
export const REDIRECTS_MAX = 5;
export const PAGE_MS = 20_000;
export const URL_CHARACTERS_MAX = 2_048;

// What a call answers of it.
export const CONTENT_BYTES_USUAL = 256 * KIB;
export const CONTENT_BYTES_MAX = 2 * MIB;
export const LINKS_MAX = 1_000;

// A host.
export const HOST_EVERY_MS = 1_000;
/** What robots.txt may ask for; more is taken as this. */
export const CRAWL_DELAY_MS_MAX = 10_000;
/** A call waits so long for its host. */
export const TURN_WAIT_MS = 10_000;
/** Calls of an account that wait for one host, in a process. */
export const HOST_WAITING_MAX = 4;

// robots.txt (RFC 9309).
export const ROBOTS_BYTES_MAX = 512 * KIB;
/** A page still has time then. */
export const ROBOTS_MS = 10_000;
export const ROBOTS_KEPT_MS = 3_600_000;
/** One that could not be read allows nothing (RFC 9309, 2.3.1.4), and is asked for again soon: most such failures are short. */
export const ROBOTS_FAILED_KEPT_MS = 30_000;
export const ROBOTS_KEPT_MAX = 2_000;
export const ROBOTS_KEPT_BYTES_MAX = 32 * MIB;
export const ROBOTS_RULES_MAX = 2_000;
/** Comparisons of a path with rules: beyond, the file is too complex to obey. */
export const ROBOTS_STEPS_MAX = 2_000_000;

// A map of a site.
export const SITEMAPS_READ_MAX = 5;
/** Received and inflated: a longer one is read up to here. */
export const SITEMAP_BYTES_MAX = 2 * MIB;
/** What the protocol allows in one. */
export const SITEMAP_URLS_MAX = 50_000;
export const SITEMAP_DEPTH_MAX = 16;

// A search.
export const QUERY_CHARACTERS_MAX = 400;
export const RESULTS_USUAL = 10;
export const RESULTS_MAX = 20;
export const SNIPPET_CHARACTERS_MAX = 1_000;
export const TITLE_CHARACTERS_MAX = 300;
export const SEARCH_MS = 10_000;

// A crawl.
export const CRAWL_PAGES_MAX = 100;
export const CRAWL_PAGES_USUAL = 10;
export const CRAWL_DEPTH_MAX = 10;
export const CRAWL_DEPTH_USUAL = 2;
/** URLs that a crawl knows: so many for each page of its limit. */
export const CRAWL_KNOWN_FACTOR = 10;
export const CRAWL_CONTENT_BYTES = 256 * KIB;
export const PATTERNS_MAX = 20;
export const PATTERN_CHARACTERS_MAX = 200;
export const CRAWL_MS_MAX = 3_600_000;
export const CRAWL_KEPT_HOURS = 24;
/** JSON of the pages in one answer. */
export const CRAWL_ANSWER_BYTES = 2 * MIB;

// A screenshot.
export const SHOT_WIDTH_USUAL = 1_280;
export const SHOT_HEIGHT_USUAL = 800;
export const SHOT_SIDE_MAX = 2_560;
export const FULL_HEIGHT_MAX = 10_000;
export const SHOT_QUALITY_USUAL = 80;
export const SHOT_WAIT_SECONDS_MAX = 5;

// A page in a browser.
/** What a page asks for beside itself. */
export const BROWSER_REQUESTS_MAX = 200;
export const BROWSER_REQUESTS_AT_ONCE = 8;
export const BROWSER_REQUEST_BYTES_MAX = 5 * MIB;
/** With the page. */
export const BROWSER_BYTES_MAX = 20 * MIB;
/** Pages that a page leads to. */
export const BROWSER_PAGES_MAX = 5;

// A page that its scripts draw.
export const WAIT_FOR_CHARACTERS_MAX = 200;
export const WAIT_FOR_MS = 10_000;

/** What a page of a call or a crawl is charged and counted as. */
export const FETCH = 'web.fetch';
export const SHOT = 'web.screenshot';
/** What a page costs, in place of that, when a browser drew it. */
export const DRAWN = 'web.drawn';
