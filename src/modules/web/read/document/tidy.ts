// Normalizes content for writing: only HTML elements that a reader needs, code as one text with its language, tables as rectangles.
import { childrenOf } from './chrome.ts';
import { type Document, ELEMENT_NODE, type Element, type TreeNode } from './tree.ts';
import { wordSet } from './words.ts';

const BLOCKS = wordSet(
  'address article aside blockquote center dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6',
  'header hgroup hr li main nav ol p pre section summary table caption thead tbody tfoot tr td th ul',
);
const INLINE = wordSet(
  'a abbr b bdi bdo br cite code col colgroup data del dfn em i img ins kbd mark q rp rt ruby s samp small',
  'span strike strong sub sup time tt u var wbr',
);
const PERMALINK = /^[\s#¶§\u200b🔗]*$/u;
const SPAN_MAX = 50;
const CELLS_ADDED_MAX = 10_000;

export const isBlock = (node: TreeNode | null) =>
  node?.nodeType === ELEMENT_NODE && BLOCKS.has((node as Element).localName);

export function tidyDocument(root: Element, document: Document): Element {
  tidy(root, document);
  const added = { cells: 0 };
  for (const table of [...root.querySelectorAll('table')]) {
    if (isLayout(table)) unfold(table, document);
    else square(table, document, added);
  }
  return root;
}

function tidy(element: Element, document: Document): void {
  for (const child of childrenOf(element)) {
    const name = child.localName;
    if (name === 'pre') codeBlock(child, document);
    else if (name === 'a' && isIdle(child)) child.remove();
    else if (name === 'img' && isIdleImage(child)) child.remove();
    else {
      tidy(child, document);
      if (isSideBySide(child)) child.replaceWith(child, ' ');
      if (!BLOCKS.has(name) && !INLINE.has(name))
        replace(child, name.includes('-') || /^(?:form|fieldset|legend)$/.test(name) ? 'div' : 'span', document);
    }
  }
}

/** Links and labels side by side are blocks by style: their words do not run together. */
function isSideBySide({ localName: name, nextSibling }: Element): boolean {
  return (
    (name === 'a' || name === 'label') &&
    nextSibling?.nodeType === ELEMENT_NODE &&
    (nextSibling as Element).localName === name
  );
}

/** Permalinks of headings, and links around nothing. */
function isIdle(link: Element): boolean {
  return PERMALINK.test(link.textContent ?? '') && link.querySelector('img') === null;
}

function isIdleImage(image: Element): boolean {
  return !image.hasAttribute('src') || image.getAttribute('width') === '1' || image.getAttribute('height') === '1';
}

function replace(element: Element, name: string, document: Document): Element {
  const other = document.createElement(name);
  for (const node of nodesOf(element)) other.appendChild(node);
  element.replaceWith(other);
  return other;
}

function nodesOf(element: Element): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let node = element.firstChild; node !== null; node = node.nextSibling) nodes.push(node);
  return nodes;
}

function codeBlock(pre: Element, document: Document): void {
  const language = languageOf(pre);
  const code = document.createElement('code');
  code.textContent = codeOf(pre).replace(/^\n/, '').trimEnd();
  if (language !== null) code.setAttribute('class', `language-${language}`);
  for (const node of nodesOf(pre)) node.remove();
  pre.append(code);
  // Numbers of lines stand in a table beside their code.
  const table = pre.closest('table');
  if (table === null || !isListing(table)) return;
  if (/^[\d\s]+$/.test(code.textContent ?? '')) pre.remove();
  else table.replaceWith(pre);
}

const listings = new WeakMap<Element, boolean>();

/** Asked for each block of code in it, looked at once. */
function isListing(table: Element): boolean {
  const known = listings.get(table);
  if (known !== undefined) return known;
  const is = table.querySelector('th') === null && [...table.querySelectorAll('pre')].length <= 2;
  listings.set(table, is);
  return is;
}

/** Lines that are elements of their own end with a line's end. */
function codeOf(node: TreeNode): string {
  if (node.nodeType !== ELEMENT_NODE) return node.textContent ?? '';
  const element = node as Element;
  if (element.localName === 'br') return '\n';
  let text = '';
  for (const child of nodesOf(element)) {
    if (isBlock(child) && text !== '' && !text.endsWith('\n')) text += '\n';
    text += codeOf(child);
    if (isBlock(child) && child.nextSibling !== null && !text.endsWith('\n')) text += '\n';
  }
  return text;
}

function languageOf(pre: Element): string | null {
  const code = pre.querySelector('code');
  for (const element of [code, pre, pre.parentElement, pre.parentElement?.parentElement ?? null]) {
    if (element === null) continue;
    const named =
      ['data-lang', 'data-language', 'data-code-language']
        .map((name) => element.getAttribute(name))
        .find((name) => name) ??
      /(?:^|\s)(?:language|lang|highlight-source|brush:?)[-\s]?([a-z0-9+#]{1,30})/i.exec(
        element.getAttribute('class') ?? '',
      )?.[1];
    if (named) return named.toLowerCase().replaceAll(/[^a-z0-9+#-]/g, '');
  }
  return null;
}

/** A table that lays out a page: it holds tables, headings or lists, or has one column. */
function isLayout(table: Element): boolean {
  if (table.getAttribute('role') === 'presentation') return true;
  if (table.querySelector('table,h1,h2,h3,pre') !== null) return true;
  if (table.querySelector('th') !== null) return false;
  return [...table.querySelectorAll('tr')].every((row) => childrenOf(row).length <= 1);
}

function unfold(table: Element, document: Document): void {
  const ours = [...table.querySelectorAll('thead,tbody,tfoot,tr,td,th,caption')].filter(
    (each) => each.closest('table') === table,
  );
  for (const element of ours.reverse()) replace(element, 'div', document);
  replace(table, 'div', document);
}

/** Cells that span columns or rows get empty ones beside and below them. */
function square(table: Element, document: Document, added: { cells: number }): void {
  let spanning: { left: number; columns: number }[] = [];
  for (const row of table.querySelectorAll('tr')) {
    const next: typeof spanning = [];
    let column = 0;
    const fill = (before: Element | null) => {
      for (let above = spanning[column]; above !== undefined && above.left > 0; above = spanning[column]) {
        next[column] = { ...above, left: above.left - 1 };
        empty(row, before, document, added);
        column += 1;
      }
    };
    for (const cell of childrenOf(row)) {
      fill(cell);
      const columns = spanOf(cell, 'colspan');
      const rows = spanOf(cell, 'rowspan');
      for (let at = 0; at < columns; at += 1) {
        if (rows > 1) next[column + at] = { left: rows - 1, columns };
        if (at > 0) empty(row, cell.nextElementSibling, document, added);
      }
      column += columns;
      cell.removeAttribute('colspan');
      cell.removeAttribute('rowspan');
    }
    fill(null);
    spanning = next;
  }
}

function spanOf(cell: Element, name: string): number {
  const span = Number.parseInt(cell.getAttribute(name) ?? '1', 10);
  return Number.isNaN(span) ? 1 : Math.min(Math.max(span, 1), SPAN_MAX);
}

function empty(row: Element, before: Element | null, document: Document, added: { cells: number }): void {
  if (added.cells >= CELLS_ADDED_MAX) return;
  added.cells += 1;
  const cell = document.createElement('td');
  if (before === null) row.append(cell);
  else before.replaceWith(cell, before);
}
