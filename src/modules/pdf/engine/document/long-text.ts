// Feeds long texts to pdfmake in parts. For each word pdfmake copies the rest of its text, so 400 KB in one paragraph take a minute. pdfmake
// always has more words than a line holds.
import LayoutBuilder from 'pdfmake/js/LayoutBuilder.js';

const WORDS = 2_000;

interface TextNode {
  _inlines?: unknown[] | null;
  /** What it has not got yet, the next part last. */
  _later?: unknown[][];
}

let isDone = false;

/** Once in a thread. */
export function layOutLongTexts(): void {
  if (isDone) return;
  isDone = true;
  const { prototype } = LayoutBuilder.default;
  const nextLine = prototype.buildNextLine;
  prototype.buildNextLine = function buildNextLine(this: unknown, node: TextNode) {
    if (node._later === undefined && (node._inlines?.length ?? 0) > 2 * WORDS) splitInlines(node);
    fill(node);
    const line = nextLine.call(this, node);
    fill(node);
    return line;
  };
}

function splitInlines(node: TextNode): void {
  const all = node._inlines ?? [];
  node._inlines = all.slice(0, WORDS);
  node._later = [];
  for (let at = WORDS; at < all.length; at += WORDS) node._later.unshift(all.slice(at, at + WORDS));
}

function fill(node: TextNode): void {
  if (node._later === undefined || node._inlines == null) return;
  while (node._inlines.length < WORDS && node._later.length > 0) node._inlines.push(...(node._later.pop() ?? []));
}
