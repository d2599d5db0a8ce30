// Renders a documentation page as HTML, with the sidebar, one stylesheet and one script of our own. Without the script, all pages and
// navigation work; with it come a search, tabs and copy buttons.
import { Html, html } from '../../../lib/html.ts';
import { iconLink } from '../../pages/icon.ts';
import { addressOf } from './assets/assets.ts';
import { blockHtml } from './blocks-html.ts';
import type { DocsPage, PageLink } from './page.ts';
import type { SidebarPart } from './sidebar.ts';

export interface Frame {
  /** The answer of linkRoot. */
  readonly root: string;
  readonly sidebar: readonly SidebarPart[];
}

/** Where links of the pages begin: the path of the base URL, so that the pages work behind any host and prefix. */
export function linkRoot(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

/** A whole page. `path`: where it stands; null: nowhere, it says that there is none. */
export function renderHtml({ title, blocks }: DocsPage, path: string | null, { root, sidebar }: Frame): string {
  const content = html`${blocks.map((block) => html`${blockHtml(block, root)}\n`)}`;
  const contents = contentsOf(content);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Quartermaster</title>
${iconLink}
<link rel="stylesheet" href="${root}${addressOf('style.css')}">
<script defer src="${root}${addressOf('docs.js')}" data-search="${root}${addressOf('search.js')}" data-find="${root}${addressOf('find.js')}" data-try="${root}${addressOf('try.js')}" data-entries="${root}/docs/search.json" data-root="${root}"></script>
${path === null ? '' : html`<link rel="alternate" type="text/markdown" href="${root}${path}.md">`}
</head>
<body class="docs">
<a class="skip" href="#main">Skip to content</a>
<header class="top"><p><a href="${root}/docs">Quartermaster</a></p>
<button type="button" class="find" hidden>Search <kbd>/</kbd></button>
<nav class="ways" aria-label="Service"><a href="${root}/console">Console</a> <a href="${root}/v1/openapi.json">OpenAPI</a> <a href="${root}/llms.txt">llms.txt</a></nav>
<button type="button" class="menu" popovertarget="sidebar">Menu</button></header>
<div class="body">
<nav id="sidebar" popover aria-label="Documentation">
${sidebar.map((part) => partHtml(part, path, root))}</nav>
<main id="main" tabindex="-1">
${contents === null ? content : withFolded(content, contents)}</main>
${contents === null ? '' : html`<nav class="contents" aria-label="On this page"><p class="part">On this page</p>${contents}</nav>\n`}</div>
</body>
</html>
`.text;
}

/** Sections, from which on a page has a list of them. */
const SECTIONS_MIN = 4;

/** Links to the sections of a long page; null: it is short. */
function contentsOf({ text }: Html): Html | null {
  const sections = [...text.matchAll(/<h2 id="([^"]*)">(.*?)<\/h2>/g)].map(([, id = '', title = '']) => {
    // Both are HTML already; names of the wire are no code here.
    const shown = new Html(title.replaceAll(/<[^>]*>/g, ''));
    return html`<li><a href="#${new Html(id)}">${shown}</a></li>`;
  });
  return sections.length < SECTIONS_MIN ? null : html`<ul>${sections}</ul>`;
}

/** With the list below the title, for narrow screens; wide ones show it beside the text. */
function withFolded({ text }: Html, contents: Html): Html {
  const folded = html`<details class="folded"><summary>On this page</summary>${contents}</details>`;
  return new Html(text.replace('</h1>', () => `</h1>\n${folded.text}`));
}

function partHtml({ title, links, folds = [] }: SidebarPart, path: string | null, root: string): Html {
  const folded = folds.map(
    (fold) =>
      html`<li><details${fold.links.some(({ to }) => to === path) ? html` open` : ''}><summary>${fold.title}</summary>${linksHtml(fold.links, path, root)}</details></li>\n`,
  );
  const list = folds.length === 0 ? linksHtml(links, path, root) : html`<ul>${folded}</ul>`;
  return html`<p class="part">${title}</p>${list}\n`;
}

function linksHtml(links: readonly PageLink[], path: string | null, root: string): Html {
  const each = links.map(
    ({ text, to }) => html`<li><a href="${root}${to}"${to === path ? html` aria-current="page"` : ''}>${text}</a></li>`,
  );
  return html`<ul>${each}</ul>`;
}
