// A real Chromium for tests of pages. Its binary comes in an npm package, with the libraries that a machine without a desktop lacks.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

async function locate(folder: string): Promise<{ path: string; env: Record<string, string> }> {
  const own = process.env.CHROMIUM_PATH;
  if (own !== undefined) return { path: own, env: {} };
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      'the packaged Chromium is for Linux on x64: set CHROMIUM_PATH to a Chromium or Chrome of this machine',
    );
  const path = await unpackInto(folder, () => packaged.executablePath());
  const fonts = await configureFonts(folder);
  if (await findsItsLibraries(path)) return { path, env: fonts };
  const bin = fileURLToPath(new URL('../bin/', import.meta.resolve('@sparticuz/chromium')));
  const libraries = await unpackInto(folder, () => inflate(join(bin, 'al2023.tar.br')));
  return { path, env: { ...fonts, LD_LIBRARY_PATH: join(libraries, 'lib') } };
}

/** Text without a font has no height, and what has no height counts as not visible: the package's own fonts, wherever it runs. */
async function configureFonts(folder: string): Promise<Record<string, string>> {
  const file = join(folder, 'fonts.conf');
  await writeFile(
    file,
    `<?xml version="1.0"?><fontconfig><dir>${join(folder, 'fonts')}</dir><cachedir>${join(folder, 'font-cache')}</cachedir></fontconfig>\n`,
  );
  return { FONTCONFIG_FILE: file };
}

// The package unpacks into the system's folder for temporary files, and takes whatever lies there under the name: one of our own.
async function unpackInto(folder: string, unpack: () => Promise<string>): Promise<string> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    return await unpack();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

async function findsItsLibraries(path: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ldd', [path]);
  return !stdout.includes('not found');
}
