// The clients of clients/, installed as their users install them: by npm and by pip, into empty folders. Each then makes a call.
import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROJECT } from '../support/process.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';

const INSTALL_MS = 180_000;
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'quartermaster-installed-'));
let qm: TestService;
let key: string;

beforeAll(async () => {
  qm = await startTestService({ env: { ROLES: 'web,render' } });
  key = (await createTestAccount(qm.core)).secret;
});
afterAll(async () => {
  await qm.stop();
  rmSync(folder, { recursive: true, force: true });
});

const TYPESCRIPT = `
import { createClient, verifyWebhook } from 'quartermaster-client';

declare const process: { readonly argv: readonly string[] };
const [, , key = '', url = ''] = process.argv;
const client = createClient({ key, url });
const queue = await client.queue.create({ name: 'by-npm' });
const name: string = queue.name;
console.log(name);
for await (const { name } of client.pages('queue.list')) console.log(name.length);
void verifyWebhook;
`;

test(
  'npm installs the packed client into an empty folder: a program that uses it is checked, and makes a call',
  async () => {
    const cwd = join(folder, 'npm');
    mkdirSync(cwd);
    await run('npm', ['pack', '--pack-destination', cwd, '--loglevel=error'], {
      cwd: join(PROJECT, 'clients/typescript'),
    });
    const [tarball = ''] = globSync('quartermaster-client-*.tgz', { cwd });
    writeFileSync(join(cwd, 'package.json'), '{"type":"module"}');
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`], { cwd });

    const check = async (program: string): Promise<string> => {
      writeFileSync(join(cwd, 'program.ts'), program);
      const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', 'program.ts'];
      const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc');
      const checked = run(process.execPath, [tsc, ...options], { cwd });
      return checked.then(() => '').catch(({ stdout }: { stdout: string }) => stdout);
    };
    expect(await check(TYPESCRIPT.replace('queue.name', 'queue.nam'))).toContain("Property 'nam' does not exist");
    expect(await check(TYPESCRIPT.replace("{ name: 'by-npm' }", '{ name: 7 }'))).toContain('not assignable');
    expect(await check(TYPESCRIPT)).toBe('');
    const { stdout } = await run(process.execPath, ['program.ts', key, qm.url], { cwd });
    expect(stdout).toBe('by-npm\n6\n');
  },
  INSTALL_MS,
);

const PYTHON = `
import sys, quartermaster
client = quartermaster.Client(*sys.argv[1:])
print(quartermaster.__file__)
print(client.queue.create({"name": "by-pip"})["name"])
`;

/** Debian's packages for machines without an index; a line that names them when they are missing too. */
const OFFLINE = "needs an index that pip reaches, or Debian's python3-setuptools and python3-wheel";

test(
  'a wheel is built of the folder, with nothing but itself, and its package makes a call in an empty environment',
  async (context) => {
    const python = join(folder, 'venv/bin/python');
    const source = join(folder, 'python');
    // pip leaves what it builds in the folder that it builds of.
    cpSync(join(PROJECT, 'clients/python'), source, { recursive: true });
    const hasBackend = await run('python3', ['-c', 'import setuptools, wheel']).then(
      () => true,
      () => false,
    );
    const [visible, isolation] = hasBackend ? [['--system-site-packages'], ['--no-build-isolation']] : [[], []];
    await run('python3', ['-m', 'venv', ...visible, join(folder, 'venv')]);
    const pip = ['-m', 'pip', '--quiet', '--no-input', '--disable-pip-version-check'];
    const wheels = join(folder, 'wheels');
    try {
      await run(python, [...pip, 'wheel', '--no-deps', '--wheel-dir', wheels, ...isolation, source]);
    } catch (error) {
      const { stderr } = error as { stderr: string };
      context.skip(!hasBackend && stderr.includes('No matching distribution found for setuptools'), OFFLINE);
      throw error;
    }
    const [wheel = ''] = globSync('quartermaster_client-*-py3-none-any.whl', { cwd: wheels });
    const list = 'import sys, zipfile; print("\\n".join(sorted(zipfile.ZipFile(sys.argv[1]).namelist())))';
    const { stdout: files } = await run(python, ['-c', list, join(wheels, wheel)]);
    const of = files
      .trim()
      .split('\n')
      .map((file) => file.replace(/^.*dist-info/, 'dist-info'));
    expect(of).toEqual(
      expect.arrayContaining([
        'quartermaster/__init__.py',
        'quartermaster/py.typed',
        'quartermaster/types.py',
        'dist-info/METADATA',
      ]),
    );
    expect(of.filter((file) => !/^(?:quartermaster|dist-info)\//.test(file))).toEqual([]);
    expect(of.some((file) => file.endsWith('LICENSE'))).toBe(true);
    await run(python, [...pip, 'install', '--no-index', '--no-deps', join(wheels, wheel)]);
    const { stdout } = await run(python, ['-c', PYTHON, key, qm.url], { cwd: folder });
    expect(stdout).toMatch(/venv\/lib\/.*site-packages\/quartermaster\/__init__\.py\nby-pip\n$/);
  },
  INSTALL_MS,
);
