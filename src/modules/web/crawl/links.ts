// Which links a crawl follows: those of its host, of paths that are wanted, each once. Patterns are paths with `*` for anything, read from
// the beginning of the path: `/docs/*`. They are matched without going back more than to the last `*`.
export interface Scope {
  readonly host: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

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
export function followed(links: readonly string[], { host, include, exclude }: Scope): string[] {
  const wanted = links.flatMap((link) => {
    const href = pageUrl(link);
    if (href === null) return [];
    const { host: of, pathname, search } = new URL(href);
    const path = pathname + search;
    if (of !== host || exclude.some((pattern) => matches(pattern, path))) return [];
    return include.length === 0 || include.some((pattern) => matches(pattern, path)) ? [href] : [];
  });
  return [...new Set(wanted)];
}

/** Whether a path begins as the pattern says. */
export function matches(pattern: string, path: string): boolean {
  let [at, place, star, behind] = [0, 0, -1, 0];
  while (at < pattern.length) {
    if (pattern[at] === '*') {
      star = at;
      behind = place;
      at += 1;
    } else if (place < path.length && pattern[at] === path[place]) {
      at += 1;
      place += 1;
    } else if (star >= 0 && behind < path.length) {
      // The last star takes one character more.
      behind += 1;
      place = behind;
      at = star + 1;
    } else return false;
  }
  return true;
}
