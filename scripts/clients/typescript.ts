// The client for JavaScript and TypeScript: what runs (runtime.js with the table of calls) and its types.
import type { Field, Shape, Shapes } from './shapes.ts';
import { type Branch, treeOf } from './tree.ts';

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const WORDS_MAX = 100;

/** `{ 'queue.publish': 'POST /v1/queue/publish keyed' }` */
export function javascriptTable({ calls, streams }: Shapes): string {
  const rows = calls.map(({ id, method, path, repeat }) => `  '${id}': '${method} ${path} ${repeat}',`);
  const follows = streams.map(({ id, path, isResumed }) => `  '${id}': '${path}${isResumed ? ' resumed' : ''}',`);
  return `const CALLS = {\n${rows.join('\n')}\n};\n\nconst STREAMS = {\n${follows.join('\n')}\n};\n`;
}

export function typescriptTypes({ structs, calls, streams }: Shapes): string {
  const interfaces = [...structs].map(
    ([name, fields]) =>
      `export interface ${name} {${fields.map((field) => fieldLine(field, name.endsWith('Input'))).join('')}\n}\n`,
  );
  const table = calls.map(({ id, input, output }) => `  '${id}': [${typeOf(input)}, ${typeOf(output)}];`);
  return [
    ...interfaces,
    `export interface Calls {\n${table.join('\n')}\n}\n`,
    `export interface Methods ${branchText(treeOf([...calls, ...streams]), '')}\n`,
  ].join('\n');
}

/** @param isInput what is sent is explained; with what is answered the file would be 330 KB */
function fieldLine({ name, required, shape, words }: Field, isInput: boolean): string {
  const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
  const doc = words === '' || !isInput ? '' : `\n  /** ${firstSentence(words)} */`;
  return `${doc}\n  ${key}${required ? '' : '?'}: ${typeOf(shape)};`;
}

/** Of the manifest's descriptions only so much: the rest is at /docs. */
function firstSentence(words: string): string {
  const sentence = (/^.*?[.:;](?=\s|$)/s.exec(words)?.[0] ?? words).replaceAll('*/', '*\\/').replaceAll(/\s+/g, ' ');
  return sentence.length <= WORDS_MAX ? sentence : `${sentence.slice(0, WORDS_MAX)} …`;
}

function typeOf(shape: Shape): string {
  if (shape.kind === 'struct') return shape.name;
  if (shape.kind === 'literal') return shape.values.map((value) => JSON.stringify(value)).join(' | ');
  if (shape.kind === 'union') return [...new Set(shape.of.map(typeOf))].join(' | ');
  if (shape.kind === 'array') return `Array<${typeOf(shape.of)}>`;
  if (shape.kind === 'record') return `Record<string, ${typeOf(shape.of)}>`;
  return shape.name === 'integer' ? 'number' : shape.name;
}

function branchText({ below }: Branch, indent: string): string {
  const inner = `${indent}  `;
  const lines = [...below].map(([word, branch]) => {
    const { call } = branch;
    const parts = [
      ...(call === null ? [] : ['method' in call ? `Method<'${call.id}', ${call.inputRequired}>` : 'Stream']),
      ...(branch.below.size === 0 ? [] : [branchText(branch, inner)]),
    ];
    const doc = call === null ? '' : `${inner}/** ${call.summary} */\n`;
    return `${doc}${inner}${word}: ${parts.join(' & ')};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}
