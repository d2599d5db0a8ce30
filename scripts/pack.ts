// npm pack runs this first: makes of the sources what the npm package carries, in dist/: JavaScript file by file, for Node strips no types
// within node_modules and threads begin at files of their own, with migrations, guides and what the pages load. The bundle is made of it
// where the package is installed (postinstall.js), with the versions of packages that are there.
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const STARTS = ['src/main.js', 'src/qm.js', 'src/serve.ts', 'src/worker.ts', 'src/cli/main.ts', 'scripts/bundle.ts'];
const BESIDE = /new URL\('(\.[^']*)\.ts', import\.meta\.url\)/g;

/** Files that a thread or a process begins with: named by URL, or by a task that says where it stands. */
function entries(): string[] {
  const found = new Set(STARTS);
  for (const path of globSync('src/**/*.ts', { cwd: ROOT, exclude: ['**/*.test.ts'] })) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    if (text.includes('source: import.meta.url')) found.add(path);
    for (const [, beside] of text.matchAll(BESIDE)) found.add(join(dirname(path), `${beside}.ts`));
  }
  return [...found];
}

const namedAsJavaScript: Plugin = {
  name: 'named-as-javascript',
  transform: {
    filter: { id: /[\\/]src[\\/].*\.ts$/, code: /import\.meta\.url/ },
    handler: (code) => ({ code: code.replaceAll(BESIDE, "new URL('$1.js', import.meta.url)"), map: null }),
  },
};

const isPackage = (id: string) => !/^[./]|^@oxc-project\/|^\0/.test(id);

async function compile(): Promise<void> {
  const build = await rolldown({
    cwd: ROOT,
    input: entries(),
    platform: 'node',
    external: (id, _importer, isResolved) => !isResolved && isPackage(id),
    plugins: [namedAsJavaScript],
  });
  await build.write({
    dir: DIST,
    format: 'esm',
    preserveModules: true,
    preserveModulesRoot: ROOT,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  });
  await build.close();
}

function copyAssets(): void {
  const assets = globSync('src/**/*.{js,css}', { cwd: ROOT, exclude: ['src/*.js'] });
  for (const path of [
    ...assets,
    ...globSync(['CONTRIBUTING.md', 'docs/{*.md,deploy/*.md,openapi.json}'], { cwd: ROOT }),
  ]) {
    mkdirSync(dirname(join(DIST, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(DIST, path));
  }
  cpSync(join(ROOT, 'migrations'), join(DIST, 'migrations'), { recursive: true });
}

rmSync(DIST, { recursive: true, force: true });
await compile();
copyAssets();
