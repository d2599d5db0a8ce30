// Search engine wires. SearXNG: https://docs.searxng.org/dev/search_api.html; its `json` format must be on in its settings. Brave:
// https://api-dashboard.search.brave.com/app/documentation/web-search. Answers are untrusted, so they are cut to limits.
import { Parser } from 'htmlparser2';
import { at, fieldsOf, textAt } from '../../../vendors/call/answer.ts';
import type { VendorError } from '../../../vendors/call/judge.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import { SNIPPET_CHARACTERS_MAX, TITLE_CHARACTERS_MAX, URL_CHARACTERS_MAX } from '../limits.ts';

/** Of an answer. */
const LISTED_MAX = 100;

export interface SearchWish {
  readonly query: string;
  readonly count: number;
  /** Language tag; null: the engine chooses. */
  readonly language: string | null;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface Engine {
  /** Where the query is sent. */
  address(row: ModelRow, wish: SearchWish): string;
  credentials(row: ModelRow): Readonly<Record<string, string>>;
  /** Null: the answer is not one of this engine. */
  results(body: unknown): SearchResult[] | null;
  error(body: unknown): VendorError | null;
}

const searxng: Engine = {
  address: ({ vendor }, { query, language }) =>
    `${vendor.baseUrl}/search?${new URLSearchParams({ q: query, format: 'json', ...(language && { language }) })}`,
  credentials: () => ({}),
  results: (body) => searchResults(at(body, 'results'), 'content', (text) => text),
  error: () => null,
};

const brave: Engine = {
  address: ({ vendor }, { query, count, language }) => {
    const asked = { q: query, count: String(count), text_decorations: 'false', result_filter: 'web' };
    const spoken = language?.toLowerCase().split('-')[0];
    return `${vendor.baseUrl}/res/v1/web/search?${new URLSearchParams({ ...asked, ...(spoken && { search_lang: spoken }) })}`;
  },
  credentials: ({ vendor }) => ({ 'x-subscription-token': vendor.secrets?.api_key?.reveal() ?? '' }),
  results: (body) => {
    if (at(body, 'type') !== 'search') return null;
    // Without any result there is no `web` either.
    return searchResults(at(body, 'web.results') ?? [], 'description', textOfHtml);
  },
  error: (body) => {
    const said = textAt(body, 'error.detail') ?? textAt(body, 'error.code');
    if (said === null) return null;
    return { said, means: BRAVE_CODES[textAt(body, 'error.code') ?? ''] ?? null };
  },
};

const BRAVE_CODES: Readonly<Record<string, VendorError['means']>> = {
  SUBSCRIPTION_TOKEN_INVALID: 'auth',
  SUBSCRIPTION_NOT_FOUND: 'auth',
  OPTION_NOT_IN_PLAN: 'auth',
  QUOTA_LIMITED: 'funds',
  USAGE_LIMIT_EXCEEDED: 'funds',
  RATE_LIMITED: 'busy',
};

export const engines: Readonly<Record<string, Engine>> = { searxng, brave };

function searchResults(list: unknown, snippet: string, read: (text: string) => string): SearchResult[] | null {
  if (!Array.isArray(list)) return null;
  const resultText = (value: unknown, max: number) =>
    typeof value === 'string' ? line(read(value.slice(0, 4 * max)), max) : '';
  return list.slice(0, LISTED_MAX).flatMap((each) => {
    const url = textAt(each, 'url', URL_CHARACTERS_MAX);
    if (url === null || !/^https?:\/\//i.test(url)) return [];
    const title = resultText(fieldsOf(each)?.title, TITLE_CHARACTERS_MAX);
    return [{ title, url, snippet: resultText(fieldsOf(each)?.[snippet], SNIPPET_CHARACTERS_MAX) }];
  });
}

function line(text: string, charactersMax: number): string {
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, charactersMax)
    .toWellFormed();
}

/** Brave marks words that fit with tags, and writes characters as references. */
function textOfHtml(html: string): string {
  let text = '';
  const parser = new Parser({
    ontext: (piece) => {
      text += piece;
    },
  });
  parser.end(html);
  return text;
}
