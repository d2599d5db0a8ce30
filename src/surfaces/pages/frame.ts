// The frame of every console page: no script, no loaded resources, no caching. The policy allows the one stylesheet by its hash.
import { createHash } from 'node:crypto';
import type { RawAnswer } from '../../kit/raw-route.ts';
import { Html, html } from '../../lib/html.ts';
import { iconLink, logo } from './icon.ts';
import { consoleStyle } from './style.ts';

export interface Framed {
  readonly status: number;
  readonly title: string;
  readonly content: Html;
  /** How the visitor signs out; absent: nobody is signed in, or the page does not know. */
  readonly signOut?: Html;
  /** A form or a sentence: a card in the middle, instead of a whole width of content. */
  readonly isNarrow?: boolean;
  readonly headers?: RawAnswer['headers'];
}

/** The page as it is answered. */
export function framePage({ status, title, content, signOut, isNarrow = false, headers = {} }: Framed): RawAnswer {
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Quartermaster</title>
${iconLink}
<style>${new Html(consoleStyle)}</style>
</head>
<body${isNarrow ? html` class="single"` : ''}>
<header class="top"><p class="brand">${logo}Quartermaster</p>${signOut ?? ''}</header>
<main${isNarrow ? html` class="narrow"` : ''}>
${content}
</main>
</body>
</html>
`.text;
  return { status, headers: { ...pageHeaders(), ...headers }, body };
}

function pageHeaders(): RawAnswer['headers'] {
  const hash = createHash('sha256').update(consoleStyle).digest('base64');
  return privatePageHeaders(
    `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
}

/** Of every page for one person. `policy`: what a browser may do in it (CSP). */
export function privatePageHeaders(policy: string): RawAnswer['headers'] {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    // Not no-referrer: browsers would send forms with `Origin: null`, and where they send no Sec-Fetch-Site nothing else tells
    // an own form from another page's.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex',
  };
}
