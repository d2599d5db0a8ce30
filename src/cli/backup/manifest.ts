// Manifest of a backup: the list of its files, with a digest of the list itself. It is written last: a backup without a complete manifest is
// not a backup.
import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { AssetGone, type AssetStore } from '../../vendors/assets/port.ts';
import { CommandError } from '../output.ts';

const MANIFEST = 'manifest.json';
/** Below DATA_DIR, or below the folder of assets: no name leads out of it. */
const PATH =
  '^(secrets\\.key|operator\\.key|vendors\\.yaml|postgres/connection\\.json|(postgres/data|assets)(/(?!\\.\\.?(/|$))[^/\\\\]+)+)$';
const FOLDER = '^(?!\\.)[a-z_0-9]+(/(?!\\.)[a-zA-Z_0-9]+)*$';

const manifestSchema = Type.Object({
  format: Type.Literal(1),
  created_at: Type.String(),
  release: Type.String(),
  /** Null: DATABASE_URL names a database, which its own tools back up. */
  database: Type.Union([
    Type.Null(),
    Type.Object({
      postgres: Type.String(),
      start_lsn: Type.String(),
      stop_lsn: Type.String(),
      folders: Type.Array(Type.String({ pattern: FOLDER })),
    }),
  ]),
  /** False: they are in a bucket. */
  has_assets: Type.Boolean(),
  files: Type.Array(
    Type.Object({
      path: Type.String({ pattern: PATH }),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
});

export type Manifest = Static<typeof manifestSchema>;
export type BackupFile = Manifest['files'][number];

export async function writeManifest(store: AssetStore, manifest: Manifest): Promise<void> {
  await store.put(MANIFEST, Buffer.from(`${JSON.stringify({ ...manifest, digest: digestOf(manifest) })}\n`));
}

/** Throws CommandError for a place without a backup, an unfinished one, and a manifest that was changed. */
export async function readManifest(store: AssetStore, place: string): Promise<Manifest> {
  const text = await store.read(MANIFEST).catch((error: unknown) => {
    if (error instanceof AssetGone)
      throw new CommandError(`${place} holds no finished backup: there is no ${MANIFEST} in it`);
    throw error;
  });
  const { digest, ...manifest } = parse(text.toString('utf8'), place);
  if (digest !== digestOf(manifest as Manifest))
    throw new CommandError(`${MANIFEST} in ${place} was changed or damaged`);
  if (Value.Check(manifestSchema, manifest)) return manifest;
  throw new CommandError(`${MANIFEST} in ${place} is of another release, or names files that no backup has`);
}

function parse(text: string, place: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) };
  } catch (cause) {
    throw new CommandError(`${MANIFEST} in ${place} is damaged: it is not JSON`, { cause });
  }
}

function digestOf(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
}

/** The name in the store: no part of it begins with a dot. */
export function keyOf(path: string): string {
  return path.replaceAll('/.', '/dot-');
}
