// Link selection of a crawl: links to its host, on wanted paths, each once. A pattern is a path prefix, as in robots.txt: `*` for anything, `$`
// at its end for the end of the path. Patterns and links are untrusted: a match takes as many steps as the path has characters, and links are
// processed in slices.
import { setImmediate as turn } from 'node:timers/promises';

export interface Scope {
  readonly host: string;
  /** Every path that is followed begins with it; absent: all paths are. */
  readonly below?: string | undefined;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

type Matcher = (path: string) => boolean;

const LINKS_A_TURN = 10;

const URL_CHARACTERS_MAX = 2_048;

/** The form in which a URL is known: without its fragment and the slash of an empty path; null: no page of the web. */
export function pageUrl(text: string, base?: string): string | null {
  const url = URL.parse(text, base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return url.href.length > URL_CHARACTERS_MAX ? null : url.href;
}

/** The links that are followed, in order, each once. */
export async function linksToFollow(
  links: readonly string[],
  { host, below = '', include, exclude }: Scope,
): Promise<string[]> {
  const [wanted, unwanted] = [include.map(matcher), exclude.map(matcher)];
  const found = new Set<string>();
  for (const [i, link] of links.entries()) {
    if (i % LINKS_A_TURN === LINKS_A_TURN - 1) await turn();
    const href = pageUrl(link);
    if (href === null || found.has(href)) continue;
    const { host: of, pathname, search } = new URL(href);
    const path = pathname + search;
    if (of !== host || !path.startsWith(below) || unwanted.some((matches) => matches(path))) continue;
    if (wanted.length === 0 || wanted.some((matches) => matches(path))) found.add(href);
  }
  return [...found];
}

/** Whether a path begins as the pattern says. */
export function matcher(pattern: string): Matcher {
  const isWhole = pattern.endsWith('$');
  const [first = '', ...others] = (isWhole ? pattern.slice(0, -1) : pattern).split('*');
  if (others.length === 0) return isWhole ? (path) => path === first : (path) => path.startsWith(first);
  const last = isWhole ? (others.pop() as string) : '';
  const finders = others.filter((text) => text !== '').map(finder);
  return (path) => {
    if (!path.startsWith(first)) return false;
    let place = first.length;
    for (const find of finders) {
      place = find(path, place);
      if (place < 0) return false;
    }
    return path.endsWith(last) && path.length - last.length >= place;
  };
}

/** Finds a text from a place on, by Knuth, Morris and Pratt: where it ends first, or -1. */
function finder(text: string): (path: string, from: number) => number {
  const signs = Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  /** How much of the text is found still, when the next sign is another one than the text has behind so many. */
  const back = new Uint16Array(text.length + 1);
  for (let i = 1, length = 0; i < text.length; i += 1) {
    while (length > 0 && signs[length] !== signs[i]) length = back[length] as number;
    if (signs[length] === signs[i]) length += 1;
    back[i + 1] = length;
  }
  return (path, from) => {
    let length = 0;
    for (let i = from; i < path.length; i += 1) {
      const sign = path.charCodeAt(i);
      while (length > 0 && signs[length] !== sign) length = back[length] as number;
      if (signs[length] === sign) length += 1;
      if (length === signs.length) return i + 1;
    }
    return -1;
  };
}
