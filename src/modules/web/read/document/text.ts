// Writes content as plain text: one line per block, tabs between cells, code unchanged.
import { isBlock } from './tidy.ts';
import { ELEMENT_NODE, type Element, type TreeNode } from './tree.ts';
import { wordSet } from './words.ts';

/** An empty line before and after. */
const APART = wordSet('p h1 h2 h3 h4 h5 h6 ul ol table pre blockquote dl figure section article');

export function textOf(root: Element): string {
  const writer = new Writer();
  writer.write(root);
  return writer.pieces.join('').trim();
}

class Writer {
  readonly pieces: string[] = [];
  /** Ends of lines that stand before the next text. */
  #lines = 0;
  #space = false;
  #isEmpty = true;

  write(element: Element): void {
    for (let node: TreeNode | null = element.firstChild; node !== null; node = node.nextSibling) {
      if (node.nodeType === ELEMENT_NODE) this.#element(node as Element);
      else this.#text(node.textContent ?? '');
    }
  }

  #element(element: Element): void {
    const { localName: name } = element;
    if (name === 'img') return;
    const isCell = name === 'td' || name === 'th';
    if (isCell && element.previousSibling !== null && this.#lines === 0) this.#put('\t');
    const lines = APART.has(name) ? 2 : name === 'br' || (isBlock(element) && !isCell) ? 1 : 0;
    this.#break(lines);
    if (name === 'li') this.#put('- ');
    if (name === 'pre') this.#put(element.textContent ?? '');
    else this.write(element);
    this.#break(lines);
  }

  #text(text: string): void {
    const words = text.replaceAll(/\s+/g, ' ');
    if (words === '') return;
    if (words.startsWith(' ')) this.#space = true;
    const trimmed = words.trim();
    if (trimmed !== '') this.#put(trimmed);
    if (words.endsWith(' ')) this.#space = true;
  }

  #break(lines: number): void {
    this.#lines = Math.max(this.#lines, lines);
  }

  #put(text: string): void {
    if (!this.#isEmpty && this.#lines > 0) this.pieces.push('\n'.repeat(this.#lines));
    else if (this.#space && !this.#isEmpty && !/[\s]$/.test(this.pieces.at(-1) ?? '')) this.pieces.push(' ');
    this.#lines = 0;
    this.#space = false;
    this.#isEmpty = false;
    this.pieces.push(text);
  }
}
