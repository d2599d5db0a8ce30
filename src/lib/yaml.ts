// Parser of a YAML 1.2 document (JSON included) that keeps the positions of its fields, so an error names line and column.
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';

/** One thing that is wrong in a file. */
export interface FileFault {
  readonly line: number;
  readonly column: number;
  /** `vendors[0].models[1].price`; empty for what concerns the whole file. */
  readonly field: string;
  readonly message: string;
}

/** From the root: names of members, and numbers of items. */
export type Path = readonly (string | number)[];

export interface YamlDocument {
  readonly value: unknown;
  /** What is wrong with the text itself; then `value` says nothing. */
  readonly faults: readonly FileFault[];
  fault(path: Path, message: string): FileFault;
}

export function readYaml(text: string): YamlDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { version: '1.2', lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const faults = [
    ...document.errors.map(({ pos, message }) => ({ ...at(pos[0]), field: '', message: `${firstLine(message)}.` })),
    ...aliases(document).map((offset) => ({ ...at(offset), field: '', message: 'Aliases (`*name`) are not taken.' })),
  ];
  return {
    value: faults.length > 0 ? undefined : document.toJS(),
    faults,
    fault: (path, message) => ({ ...at(offsetOf(document, path)), field: fieldOf(path), message }),
  };
}

/** `vendors[0].models[1].price`. */
export function fieldOf(path: Path): string {
  return path.reduce<string>((field, part) => {
    if (typeof part === 'number') return `${field}[${part}]`;
    return field === '' ? part : `${field}.${part}`;
  }, '');
}

/** Where the field begins, or what it should stand in. */
function offsetOf(document: Document, path: Path): number {
  let node = document.contents as Node | null;
  let offset = node?.range?.[0] ?? 0;
  for (const part of path) {
    let child: Node | null | undefined;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
      offset = (pair?.key as Node | undefined)?.range?.[0] ?? offset;
      child = pair?.value as Node | null | undefined;
    } else if (isSeq(node)) {
      child = node.items[part as number] as Node | undefined;
      offset = child?.range?.[0] ?? offset;
    }
    if (child === undefined || child === null) break;
    node = child;
  }
  return offset;
}

/** What a few lines could unfold to without end. */
function aliases(document: Document): number[] {
  const offsets: number[] = [];
  visit(document, { Alias: (_key, { range }) => void offsets.push(range?.[0] ?? 0) });
  return offsets;
}

function firstLine(message: string): string {
  return (message.split('\n', 1)[0] as string).replace(/[.:]$/, '');
}
