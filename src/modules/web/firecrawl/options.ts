// Request options of the Firecrawl API (v2). An unsupported option that would change the content is refused by name; options that concern only
// speed, caches or bookkeeping are ignored.
import { invalidField } from '../../../problems/problem.ts';
import { PATTERN_CHARACTERS_MAX, PATTERNS_MAX } from '../limits.ts';
import type { PageFormat } from '../read/wire.ts';

type Fields = Readonly<Record<string, unknown>>;

const REFUSED = [
  ...[
    'actions',
    'location',
    'proxy',
    'profile',
    'includeTags',
    'excludeTags',
    'headers',
    'mobile',
    'useMock',
    'lockdown',
  ],
  ...['redactPII', 'waitFor', 'webhook', 'appendToId', 'prompt', 'allowExternalLinks'],
  ...['allowSubdomains', 'regexOnFullURL', 'robotsUserAgent', 'includeDomains', 'excludeDomains', 'categories', 'tbs'],
];
const TRIVIAL: readonly unknown[] = [undefined, null, false, 0, '', 'auto', 'basic'];

export interface JsonWish {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly prompt: string | null;
}

export interface ScrapeWish {
  readonly texts: readonly PageFormat[];
  readonly links: boolean;
  readonly json: JsonWish | null;
  /** Null: none is wanted. */
  readonly screenshot: { readonly fullPage: boolean } | null;
  readonly mainContent: boolean;
}

/** Throws VALIDATION_FAILED for options that are not served. */
export function checkOptions(fields: Fields, at = ''): void {
  for (const name of REFUSED) {
    const value = fields[name];
    if (TRIVIAL.includes(value) || (Array.isArray(value) && value.length === 0)) continue;
    throw invalidField(`${at}${name}`, 'unsupported', `${at}${name} is not supported here.`);
  }
}

/** Throws VALIDATION_FAILED for formats that are not served. */
export function scrapeWish(fields: Fields, at = ''): ScrapeWish {
  checkOptions(fields, at);
  const { formats = ['markdown'], onlyMainContent } = fields;
  if (!Array.isArray(formats) || formats.length > 10) {
    throw invalidField(`${at}formats`, 'type', `${at}formats must be a list.`);
  }
  const wish: FormatWish = { texts: [], links: false, json: null, screenshot: null };
  for (const [i, format] of formats.entries()) takeFormat(wish, format, `${at}formats[${i}]`);
  return { ...wish, texts: [...new Set(wish.texts)], mainContent: onlyMainContent !== false };
}

interface FormatWish {
  readonly texts: PageFormat[];
  links: boolean;
  json: JsonWish | null;
  screenshot: ScrapeWish['screenshot'];
}

function takeFormat(wish: FormatWish, format: unknown, at: string): void {
  const { type, ...of } = (typeof format === 'string' ? { type: format } : (format ?? {})) as Fields;
  if (type === 'markdown' || type === 'html') wish.texts.push(type);
  else if (type === 'links') wish.links = true;
  else if (type === 'json') wish.json = jsonWish(of, at);
  else if (type === 'screenshot') wish.screenshot = { fullPage: of.fullPage === true };
  else throw invalidField(at, 'unsupported', `${at} must be markdown, html, links, json or screenshot.`);
}

function jsonWish({ schema, prompt }: Fields, at: string): JsonWish {
  if (typeof schema !== 'object' || schema === null) {
    throw invalidField(`${at}.schema`, 'required', `${at} needs a JSON Schema as schema.`);
  }
  return { schema: schema as JsonWish['schema'], prompt: typeof prompt === 'string' ? prompt.slice(0, 10_000) : null };
}

/** The one text that pages of a crawl are kept as. */
export function crawlFormat(
  fields: Fields,
  at = '',
): Pick<ScrapeWish, 'mainContent'> & { readonly format: PageFormat } {
  const { texts, json, links, screenshot, mainContent } = scrapeWish(fields, at);
  if (texts.length !== 1 || json !== null || screenshot !== null || links) {
    throw invalidField(`${at}formats`, 'unsupported', `${at}formats must be one of markdown and html for many pages.`);
  }
  return { format: texts[0] as PageFormat, mainContent };
}

/** `^`, literal text with `.*` and escaped signs, then `$` or, as people write it, a last `/*`. */
const PATTERN = /^\^?(?:\.[*+]|\\[^A-Za-z0-9*$]|[^\\()[\]{}|?+^$*])*(?:\$|\/\*)?$/;

/** Expressions over paths that say no more than a pattern does. */
export function patternsOf(value: unknown, name: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidField(name, 'type', `${name} must be a list.`);
  if (value.length > PATTERNS_MAX)
    throw invalidField(name, 'too_many', `${name} may have at most ${PATTERNS_MAX} expressions.`);
  return value.map((expression: unknown, i) => {
    if (typeof expression === 'string') return patternOf(expression, `${name}[${i}]`);
    throw invalidField(`${name}[${i}]`, 'type', `${name}[${i}] must be a text.`);
  });
}

function patternOf(expression: string, at: string): string {
  if (expression.length >= PATTERN_CHARACTERS_MAX || !PATTERN.test(expression)) {
    throw invalidField(at, 'unsupported', `${at} may use literal text, .*, ^ and $ only.`);
  }
  // An expression without ^ holds anywhere in a path.
  const anywhere = expression.startsWith('^') ? '' : '*';
  const text = expression
    .replace(/^\^/, '')
    .replace(/\/\*$/, '')
    .replaceAll(/\.[*+]/g, '*');
  return anywhere + text.replaceAll('\\', '');
}

export function textField(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw invalidField(name, 'required', `${name} must be a text.`);
}

/** Undefined: not sent. */
export function wholeField(fields: Fields, name: string, max: number): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (Number.isInteger(value) && (value as number) >= 0) return Math.min(max, value as number);
  throw invalidField(name, 'type', `${name} must be a whole number.`);
}
