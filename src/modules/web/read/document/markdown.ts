// Writes content as Markdown (CommonMark, with GitHub's tables and strikethrough).
import TurndownService from 'turndown';
import type { Element } from './tree.ts';

/** End a cell and a row while a table is made; the parser lets neither in. */
const CELL = '\ufdd0';
const ROW = '\ufdd1';

const service = new TurndownService({
  headingStyle: 'atx',
  hr: '---',
  bulletListMarker: '-',
  codeBlockStyle: 'fenced',
  emDelimiter: '*',
});
service.addRule('code', { filter: 'pre', replacement: (_, node) => fencedCode(node as unknown as Element) });
service.addRule('cell', {
  filter: ['td', 'th'],
  replacement: (content) =>
    content
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ')
      .replaceAll('|', '\\|') + CELL,
});
service.addRule('row', { filter: 'tr', replacement: (content) => content + ROW });
service.addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
service.addRule('caption', { filter: ['caption', 'colgroup', 'col'], replacement: () => '' });
service.addRule('table', {
  filter: 'table',
  replacement: (content, node) => table(content, node as unknown as Element),
});
service.addRule('deleted', { filter: ['del', 's'], replacement: (content) => `~~${content}~~` });
service.addRule('term', { filter: 'dt', replacement: (content) => `\n\n**${content.trim()}**\n` });
service.addRule('meaning', { filter: 'dd', replacement: (content) => `\n${content.trim()}\n` });
service.addRule('summary', { filter: 'summary', replacement: (content) => `\n\n**${content.trim()}**\n\n` });
service.addRule('item', {
  filter: 'li',
  replacement: (content, node) => item(content, node as unknown as Element),
});
service.addRule('address', {
  filter: 'a',
  replacement: (content, node) => link(content, node as unknown as Element),
});

export function markdownOf(root: Element): string {
  return service
    .turndown(root as never)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function fencedCode(pre: Element): string {
  const code = pre.textContent ?? '';
  const language = /^language-(.+)$/.exec(pre.querySelector('code')?.getAttribute('class') ?? '')?.[1] ?? '';
  const longest = (code.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `\n\n${fence}${language}\n${code}\n${fence}\n\n`;
}

function table(content: string, element: Element): string {
  const rows = content.split(ROW).map((row) =>
    row
      .split(CELL)
      .slice(0, -1)
      .map((cell) => cell.trim()),
  );
  const filled = rows.filter((row) => row.some((cell) => cell !== ''));
  const columns = filled.reduce((most, row) => Math.max(most, row.length), 0);
  if (columns === 0) return '\n\n';
  const hasHead = element.querySelector('th') !== null;
  const line = (cells: readonly string[]) =>
    `| ${Array.from({ length: columns }, (_, at) => cells[at] ?? '').join(' | ')} |`;
  const [head = [], ...body] = hasHead && filled.length > 1 ? filled : [[], ...filled];
  const caption = element.querySelector('caption')?.textContent?.replaceAll(/\s+/g, ' ').trim();
  const lines = [line(head), `|${' --- |'.repeat(columns)}`, ...body.map(line)];
  return `\n\n${caption ? `${caption}\n\n` : ''}${lines.join('\n')}\n\n`;
}

function item(content: string, element: Element): string {
  const parent = element.parentElement;
  const isNumbered = parent?.localName === 'ol';
  const marker = isNumbered ? `${numberOf(element, parent)}. ` : '- ';
  const indent = ' '.repeat(marker.length);
  return `${marker}${content
    .trim()
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll('\n', `\n${indent}`)}\n`;
}

const numbers = new WeakMap<Element, number>();

/** Counted from the item before it: a list of 10^5 items is walked once. */
function numberOf(element: Element, list: Element): number {
  let before = element.previousSibling;
  while (before !== null && before.nodeName !== 'LI') before = before.previousSibling;
  const last =
    before === null ? Number.parseInt(list.getAttribute('start') ?? '1', 10) - 1 : numbers.get(before as Element);
  const number = (Number.isInteger(last) ? (last as number) : 0) + 1;
  numbers.set(element, number);
  return number;
}

function link(content: string, element: Element): string {
  const address = element.getAttribute('href');
  const words = content.replaceAll(/\s*\n\s*/g, ' ').trim();
  if (address === null || words === '') return content;
  return `[${words}](${address.replaceAll(/[()\s]/g, (character) => encodeURIComponent(character).replace('(', '%28').replace(')', '%29'))})`;
}
