// A real Chromium for tests of pages. Its binary comes in an npm package, with the libraries that a machine without a desktop lacks.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import packaged, { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

export interface TestBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

/** Starts Chromium; CHROMIUM_PATH names another one, for machines that the packaged one (Linux, x64) does not run on. `args`: its switches. */
export async function startBrowser(args: readonly string[] = []): Promise<TestBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-chromium-'));
  try {
    const { path, env } = await locate(folder);
    const browser = await chromium.launch({
      executablePath: path,
      args: [...args],
      // Containers and root have no sandbox; the pages are our own.
      chromiumSandbox: false,
      env: { ...process.env, HOME: folder, ...env },
    });
    return {
      browser,
      async close() {
        await browser.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * A Chromium that a service can be given by its path alone: a script beside it sets what the packaged one wants of its surroundings.
 * `release` removes it.
 */
export async function chromiumForService(): Promise<{ readonly path: string; release(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'qm-chromium-'));
  return { path: await writeScript(folder), release: () => rm(folder, { recursive: true, force: true }) };
}

async function writeScript(folder: string): Promise<string> {
  const { path, env } = await locate(folder);
  const script = join(folder, 'chromium.sh');
  const settings = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`);
  // Another run may be at it.
  const own = `${script}.${process.pid}`;
  await writeFile(own, `#!/bin/sh\n${settings.join('')}exec '${path}' "$@"\n`, { mode: 0o755 });
  await rename(own, script);
  return script;
}

/**
 * Such a script in one place, for services of all tests: it stays, and is begun only by what shows a page. Null where the packaged Chromium does
 * not run and CHROMIUM_PATH names no other one.
 */
export async function prepareChromium(): Promise<string | null> {
  const own = process.env.CHROMIUM_PATH;
  if (own !== undefined) return own;
  if (process.platform !== 'linux' || process.arch !== 'x64') return null;
  const folder = join(CACHE, 'chromium-of-services');
  await mkdir(folder, { recursive: true });
  return writeScript(folder);
}

async function locate(folder: string): Promise<{ path: string; env: Record<string, string> }> {
  const own = process.env.CHROMIUM_PATH;
  if (own !== undefined) return { path: own, env: {} };
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      'the packaged Chromium is for Linux on x64: set CHROMIUM_PATH to a Chromium or Chrome of this machine',
    );
  const unpacked = await unpack();
  const path = join(unpacked, 'chromium');
  const fonts = await configureFonts(unpacked, folder);
  const libraries = { LD_LIBRARY_PATH: join(unpacked, 'al2023', 'lib') };
  return { path, env: { ...fonts, ...((await findsItsLibraries(path)) ? {} : libraries) } };
}

const CACHE = join(import.meta.dirname, '../../node_modules/.cache');
// Global setups have no `import.meta.resolve`.
const PACKAGE = dirname(findPackageJSON('@sparticuz/chromium', import.meta.url) ?? '');

/** The folder of the unpacked package: unpacking takes some two seconds of a core, so it is kept for the next test file and the next run. */
async function unpack(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')) as { version: string };
  const kept = join(CACHE, `chromium-${version}`);
  if (existsSync(kept)) return kept;
  await mkdir(CACHE, { recursive: true });
  const own = await mkdtemp(join(CACHE, 'chromium-'));
  await unpackInto(own, async () => {
    await packaged.executablePath();
    await inflate(join(PACKAGE, 'bin/al2023.tar.br'));
  });
  // A worker that was quicker has put the same there.
  await rename(own, kept).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(own, { recursive: true });
  });
  return kept;
}

// The package unpacks into the system's folder for temporary files, and takes whatever lies there under the name: one of our own.
async function unpackInto(folder: string, unpackPackage: () => Promise<void>): Promise<void> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    await unpackPackage();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/** Text without a font has no height, and what has no height counts as not visible: the package's own fonts, wherever it runs. */
async function configureFonts(unpacked: string, folder: string): Promise<Record<string, string>> {
  const file = join(folder, 'fonts.conf');
  await writeFile(
    file,
    `<?xml version="1.0"?><fontconfig><dir>${join(unpacked, 'fonts')}</dir><cachedir>${join(folder, 'font-cache')}</cachedir></fontconfig>\n`,
  );
  return { FONTCONFIG_FILE: file };
}

async function findsItsLibraries(path: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ldd', [path]);
  return !stdout.includes('not found');
}
