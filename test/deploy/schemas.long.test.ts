// The files of deploy/ against what their readers publish: Compose's JSON schema, and Kubernetes' API. A field that is misspelt is refused.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { PROJECT } from '../support/process.ts';

const COMPOSE_SCHEMA = join(PROJECT, 'test/node_modules/dclint/schemas/compose.schema.json');
// biome-ignore lint/suspicious/noExplicitAny: documents of many shapes
type Document = any;

function composeValidator(): ValidateFunction {
  // It names the dialect by an address that Ajv does not know, and says formats of Docker's own.
  const { $schema: _, ...schema } = JSON.parse(readFileSync(COMPOSE_SCHEMA, 'utf8'));
  const ajv = new Ajv({ strict: false });
  addFormats.default(ajv);
  return ajv.compile(schema);
}

test.each(['compose.yaml', 'compose.postgres.yaml'])('%s is valid by the published schema of Compose', (name) => {
  const validate = composeValidator();
  const file = parse(readFileSync(join(PROJECT, 'deploy/docker', name), 'utf8'), { merge: true });
  validate(file);
  expect(validate.errors ?? []).toEqual([]);

  const [service] = Object.values<Document>(file.services);
  service.readonly = true;
  expect(validate(file)).toBe(false);
});

const manifests = globSync('deploy/kubernetes/*.yaml', { cwd: PROJECT, exclude: ['**/kustomization.yaml'] })
  .sort()
  .flatMap((path) => parseAllDocuments(readFileSync(join(PROJECT, path), 'utf8')))
  .map((document): Document => document.toJS());

/** Where kubernetes-models has the kinds of an API version: `v1` and `apps/v1` are folders. */
const moduleOf = ({ apiVersion }: Document) => `kubernetes-models/${apiVersion}`;

async function refusal(manifest: Document): Promise<string | null> {
  const models: Record<string, new (data: unknown) => { validate(): void }> = await import(moduleOf(manifest));
  const Model = models[manifest.kind];
  if (Model === undefined) return `${manifest.apiVersion} has no ${manifest.kind}`;
  try {
    new Model(manifest).validate();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What the compiler says of the manifests as literals of Kubernetes' types: Kubernetes' schemas let unknown fields pass, and types do not. */
function misspelt(all: readonly Document[]): string[] {
  const name = join(PROJECT, 'test/deploy/manifests-as-types.ts');
  const text = all
    .map(
      (one, i) => `import type { I${one.kind} as Kind${i} } from '${moduleOf(one)}';
export const manifest${i}: Kind${i} = ${JSON.stringify(one)};`,
    )
    .join('\n');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === name || fileExists(path);
  host.getSourceFile = (path, ...rest) =>
    path === name ? ts.createSourceFile(path, text, rest[0]) : getSourceFile(path, ...rest);
  const found = ts.getPreEmitDiagnostics(ts.createProgram([name], options, host));
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

test('the manifests are valid by the schemas of Kubernetes', async () => {
  expect(manifests.length).toBeGreaterThanOrEqual(10);
  for (const manifest of manifests) expect([manifest.kind, await refusal(manifest)]).toEqual([manifest.kind, null]);

  const wrong = structuredClone(manifests.find(({ kind }) => kind === 'Deployment'));
  wrong.spec.template.spec.containers[0].ports[0].containerPort = 'http';
  expect(await refusal(wrong)).toContain('containerPort must be integer');
});

test('the manifests have no field that Kubernetes does not know', () => {
  expect(misspelt(manifests)).toEqual([]);

  const wrong = structuredClone(manifests.find(({ kind }) => kind === 'Deployment'));
  wrong.spec.template.spec.containers[0].ressources = {};
  expect(misspelt([wrong])).toEqual([expect.stringContaining('\'"ressources"\' does not exist')]);
});
