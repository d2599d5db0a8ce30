// A client that openapi-typescript makes of a part of the OpenAPI document makes README's call, checked by TypeScript.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';
import { createTestAccount } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'quartermaster-client-'));
let service: SharedService;

beforeAll(async () => {
  service = await sharedService();
  symlinkSync(join(PROJECT, 'test/node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const part = (await (await fetch(`${service.url}/v1/openapi.json?module=ai,queue`)).json()) as object;
  writeFileSync(join(folder, 'schema.ts'), astToString(await openapiTS(JSON.stringify(part))));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The call below "First call" of README: path below /v1 and body, as JSON text. */
function readmeCalls(): { path: string; body: string }[] {
  const [, rest = ''] = readFileSync(join(PROJECT, 'README.md'), 'utf8').split('## First call\n');
  const [section = ''] = rest.split('\n## ');
  const calls = section.matchAll(/\/v1(\/\S+) \\\n.* -d '([^']+)'/g);
  return [...calls].map(([, path = '', body = '']) => ({ path, body }));
}

/** A program that makes the calls in order and prints what each answered. */
function programOf(calls: readonly { path: string; body: string }[]): string {
  return [
    "import createClient from 'openapi-fetch';",
    "import type { paths } from './schema.ts';",
    "const [baseUrl = '', key = ''] = process.argv.slice(2);",
    'const client = createClient<paths>({ baseUrl: `${baseUrl}/v1`, headers: { Authorization: `Bearer ${key}` } });',
    ...calls.map(
      ({ path, body }, i) =>
        `const { data: answer${i}, error: error${i} } = await client.POST('${path}', { body: ${body} });\nif (answer${i} === undefined) throw new Error(error${i}.error.message);\nconsole.log(JSON.stringify(answer${i}.data));`,
    ),
    'export {};',
  ].join('\n');
}

/** What TypeScript says against the program. */
function faultsOf(text: string): string[] {
  const path = join(folder, 'program.ts');
  writeFileSync(path, text);
  const program = ts.createProgram([path], {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    preserveSymlinks: true,
    types: ['node'],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    skipLibCheck: true,
    typeRoots: [join(PROJECT, 'node_modules/@types')],
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test("README's call passes the compiler and the service", async () => {
  const calls = readmeCalls();
  expect(calls.map(({ path }) => path)).toEqual(['/ai/chat']);
  expect(faultsOf(programOf(calls))).toEqual([]);
  const { secret } = await createTestAccount(service.core);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.ts'), service.url, secret]);
  expect(JSON.parse(stdout).choices[0].message.content).toMatch(/hello/i);
});

test('what the service would refuse, the compiler refuses', () => {
  const [fault = ''] = faultsOf(programOf([{ path: '/queue/create', body: '{"name":"jobs","type":"lifo"}' }]));
  expect(fault).toContain('"lifo"');
});
