// A page as HTML, in the frame of every documentation page: no script, no external resource, one stylesheet of our own.
import { type Html, html } from '../../../lib/html.ts';
import { iconLink } from '../../pages/icon.ts';
import type { Block, Cell, DocsPage, PageLink } from './page.ts';

/** Where links of the pages begin: the path of the base URL, so that the pages work behind any host and prefix. */
export function linkRoot(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

/** A whole page. `root` is the answer of linkRoot, `path` where the page stands. */
export function renderHtml({ title, blocks }: DocsPage, path: string, root: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Quartermaster</title>
${iconLink}
<link rel="stylesheet" href="${root}/docs/style.css">
<link rel="alternate" type="text/markdown" href="${root}${path}.md">
</head>
<body>
<header>
<a class="name" href="${root}/docs">Quartermaster</a>
<nav aria-label="Documentation">
<a href="${root}/docs">Capabilities</a>
<a href="${root}/docs/errors">Errors</a>
<a href="${root}/docs/events">Events</a>
<a href="${root}/v1/openapi.json">OpenAPI</a>
<a href="${root}/llms.txt">llms.txt</a>
</nav>
</header>
<main>
${blocks.map((block) => html`${blockHtml(block, root)}\n`)}</main>
</body>
</html>
`.text;
}

function blockHtml(block: Block, root: string): Html {
  switch (block.kind) {
    case 'heading':
      return headingHtml(block);
    case 'up':
      return html`<p class="quiet">${linkHtml(block.link, root)}</p>`;
    case 'route':
      return html`<p class="route"><code>${block.text}</code></p>`;
    case 'prose':
      return html`${block.text.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>\n`)}`;
    case 'terms':
      return html`<dl>${block.rows.map(([term, meaning]) => html`<dt>${term}</dt><dd>${inline(meaning)}</dd>`)}</dl>`;
    case 'code':
      return html`<pre><code>${block.text}</code></pre>`;
    case 'links':
      return html`<ul>\n${block.links.map((link) => html`<li>${linkHtml(link, root)}</li>\n`)}</ul>`;
    case 'table':
      return tableHtml(block.heads, block.rows, root);
  }
}

function headingHtml({ level, text, id }: Extract<Block, { kind: 'heading' }>): Html {
  if (level === 1) return html`<h1>${text}</h1>`;
  if (level === 3) return html`<h3>${text}</h3>`;
  return id === undefined ? html`<h2>${text}</h2>` : html`<h2 id="${id}">${text}</h2>`;
}

/** A table that scrolls by itself when the window is narrow. */
function tableHtml(heads: readonly string[], rows: readonly (readonly Cell[])[], root: string): Html {
  const cellHtml = (cell: Cell) => (typeof cell === 'string' ? html`${inline(cell)}` : linkHtml(cell, root));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${heads.join(', ')}"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cellHtml(cell)}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}

function linkHtml({ text, to, isCode = false }: PageLink, root: string): Html {
  return html`<a href="${root}${to}">${isCode ? html`<code>${text}</code>` : text}</a>`;
}

/** One line of plain text with `code` in backticks. */
function inline(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
