// Measures each element of a tree in one pass: its amount of text, and how much of it is in links.
import { ELEMENT_NODE, type Element, TEXT_NODE, type TreeNode } from './tree.ts';

export interface Measure {
  /** Characters, blanks counted once; one of Chinese, Japanese or Korean counts as three. */
  text: number;
  linked: number;
  links: number;
  /** Cells of tables, and blocks of code. */
  cells: number;
  code: number;
  headings: number;
  /** Headings that link elsewhere: other pages are told of. */
  teasers: number;
}

export type Measures = ReadonlyMap<Element, Measure>;

const LOOKED_AT = 100_000;
const IDEOGRAPHS = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g;

export function measuresOf(root: Element): Measures {
  const measures = new Map<Element, Measure>();
  measure(root, false, measures);
  return measures;
}

function measure(element: Element, isLinked: boolean, measures: Map<Element, Measure>): Measure {
  const name = element.localName;
  const sum: Measure = {
    text: 0,
    linked: 0,
    links: name === 'a' ? 1 : 0,
    cells: name === 'td' ? 1 : 0,
    code: name === 'pre' ? 1 : 0,
    headings: name === 'h1' ? 1 : 0,
    teasers: 0,
  };
  const within = isLinked || name === 'a';
  for (let node: TreeNode | null = element.firstChild; node !== null; node = node.nextSibling) {
    if (node.nodeType === TEXT_NODE) {
      const weight = weightOf(node);
      sum.text += weight;
      if (within) sum.linked += weight;
    } else if (node.nodeType === ELEMENT_NODE) {
      const part = measure(node as Element, within, measures);
      sum.text += part.text;
      sum.linked += part.linked;
      sum.links += part.links;
      sum.cells += part.cells;
      sum.code += part.code;
      sum.headings += part.headings;
      sum.teasers += part.teasers;
    }
  }
  if (/^h[2-6]$/.test(name) && sum.linked > 0 && sum.linked >= sum.text / 2) sum.teasers = 1;
  measures.set(element, sum);
  return sum;
}

/** A text is looked at once, however often its page is measured. */
const weights = new WeakMap<TreeNode, number>();

function weightOf(node: TreeNode): number {
  const known = weights.get(node);
  if (known !== undefined) return known;
  const text = node.textContent ?? '';
  const { length } = collapseSpace(text).trim();
  const weight = length === 0 ? 0 : length + 2 * (text.slice(0, LOOKED_AT).match(IDEOGRAPHS)?.length ?? 0);
  weights.set(node, weight);
  return weight;
}

export const collapseSpace = (text: string) => text.replaceAll(/\s+/g, ' ');

export const NOTHING: Measure = { text: 0, linked: 0, links: 0, cells: 0, code: 0, headings: 0, teasers: 0 };
