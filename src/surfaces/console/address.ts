// Matches an address to a console page and its path parameters. Pages are loaded on the first visit, so no router has them at start.
import type { ConsolePage } from '../../kit/console/page.ts';

export interface Addressed {
  readonly page: ConsolePage;
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** `path`: as it was sent, from behind /console. Null: no page stands there. */
export function pageAt(pages: readonly ConsolePage[], path: string): Addressed | null {
  for (const page of pages) {
    const params = paramsOf(page.path, path);
    if (params !== null) return { page, params };
  }
  return null;
}

function paramsOf(pattern: string, path: string): Record<string, string> | null {
  const [wanted, sent] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== sent.length) return null;
  const params: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const text = sent[i] as string;
    if (!part.startsWith('{')) {
      if (part !== text) return null;
      continue;
    }
    const value = decodePart(text);
    if (value === null || value === '') return null;
    params[part.slice(1, -1)] = value;
  }
  return params;
}

function decodePart(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    // No address that this service wrote.
    return null;
  }
}
