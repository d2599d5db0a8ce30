// A page as markdown (GitHub's): the same blocks as the HTML page, with links to the other markdown pages.
import type { Block, Cell, DocsPage, PageLink } from './page.ts';

/** A whole document. `baseUrl` is the root of its links. */
export function renderMarkdown({ blocks }: DocsPage, baseUrl: string): string {
  return `${blocks.map((block) => blockText(block, baseUrl)).join('\n\n')}\n`;
}

function blockText(block: Block, baseUrl: string): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${plain(block.text)}`;
    case 'up':
      return `In ${linkText(block.link, baseUrl)}`;
    case 'route':
      return `\`${block.text}\``;
    case 'prose':
      return plain(block.text);
    case 'terms':
      return block.rows.map(([term, meaning]) => `- ${term}: ${plain(meaning)}`).join('\n');
    case 'code':
      return `\`\`\`${block.language}\n${block.text}\n\`\`\``;
    case 'links':
      return block.links.map((link) => `- ${linkText(link, baseUrl)}`).join('\n');
    case 'table':
      return tableText(block.heads, block.rows, baseUrl);
  }
}

function tableText(heads: readonly string[], rows: readonly (readonly Cell[])[], baseUrl: string): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cellText = (cell: Cell) => (typeof cell === 'string' ? plain(cell) : linkText(cell, baseUrl));
  return [
    line(heads),
    line(heads.map(() => '---')),
    ...rows.map((cells) => line(cells.map((cell) => cellText(cell).replaceAll('|', '\\|').replace(/\s+/g, ' ')))),
  ].join('\n');
}

function linkText({ text, to, isCode = false }: PageLink, baseUrl: string): string {
  const [path, anchor] = to.split('#');
  return `[${isCode ? `\`${text}\`` : plain(text)}](${baseUrl}${path}.md${anchor === undefined ? '' : `#${anchor}`})`;
}

/** Outside code nothing is HTML. */
function plain(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll('<', '\\<')))
    .join('`');
}
