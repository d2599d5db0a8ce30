// A backup is whole or refused: damage of every kind is found, nothing is overwritten, and a bucket does as well as a folder.
import { createHash } from 'node:crypto';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/prepared-data.ts';
import { createPlace, type Place } from '../support/process.ts';
import { createQmHome, type QmHome } from '../support/qm.ts';
import { S3Double } from '../support/s3.ts';

const SECRET = 'a server secret of this test\n';
let place: Place;
let qm: QmHome;
let folder: string;
let whole: string;

beforeAll(async () => {
  place = await createPlace();
  folder = temporaryDirectory();
  qm = createQmHome({ DATA_DIR: place.dataDir, TMPDIR: folder });
  expect(await qm.run(['accounts', 'create', '--name', 'kept'])).toMatchObject({ code: 0 });
  mkdirSync(join(place.dataDir, 'assets/video'), { recursive: true });
  writeFileSync(join(place.dataDir, 'assets/video/one.mp4'), 'a film');
  writeFileSync(join(place.dataDir, 'assets/.quartermaster-assets'), 'a mark');
  writeFileSync(join(place.dataDir, 'secrets.key'), SECRET);
  whole = join(folder, 'whole');
  expect(await qm.run(['backup', 'create', whole])).toMatchObject({ code: 0, stderr: '' });
});
afterAll(async () => {
  await qm?.remove();
  await place?.remove();
  rmSync(folder, { recursive: true, force: true });
});

function damaged(name: string, how: (root: string) => void): string {
  const copy = join(folder, name.replaceAll(' ', '-'));
  cpSync(whole, copy, { recursive: true });
  how(copy);
  return copy;
}

function flip(path: string, at = Math.floor(statSync(path).size / 2)): void {
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}

/** As somebody would who can also make the digest anew. */
function edit(root: string, change: (text: string) => string): void {
  const path = join(root, 'manifest.json');
  const { digest: _, ...manifest } = JSON.parse(change(readFileSync(path, 'utf8')));
  const digest = createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
  writeFileSync(path, JSON.stringify({ ...manifest, digest }));
}

const DAMAGES: readonly [string, (root: string) => void, string][] = [
  ['no manifest', (root) => rmSync(join(root, 'manifest.json')), 'no finished backup'],
  ['half a manifest', (root) => writeFileSync(join(root, 'manifest.json'), '{"format":1,'), 'not JSON'],
  ['a flipped byte in the manifest', (root) => flip(join(root, 'manifest.json'), 30), 'changed or damaged'],
  ['a flipped byte in a table', (root) => flip(join(root, 'postgres/data/base/1/1259')), 'base/1/1259 is damaged'],
  ['a flipped byte in a film', (root) => flip(join(root, 'assets/video/one.mp4')), 'one.mp4 is damaged'],
  ['a longer file', (root) => appendFileSync(join(root, 'secrets.key'), 'x'), 'secrets.key is damaged'],
  ['a missing file', (root) => rmSync(join(root, 'postgres/data/backup_label')), 'backup_label is missing'],
  [
    'a name that leads out',
    (root) => edit(root, (text) => text.replace('assets/video/one.mp4', 'assets/../../one.mp4')),
    'names files',
  ],
];

test.each(DAMAGES)('verify and restore refuse a backup with %s', async (name, how, message) => {
  const at = damaged(name, how);
  const refusal = { code: 1, stderr: expect.stringContaining(message) };
  const dataDir = join(folder, `restored-${name.replaceAll(' ', '-')}`);
  const [verified, restored] = await Promise.all([
    qm.run(['backup', 'verify', at]),
    qm.run(['backup', 'restore', at], { DATA_DIR: dataDir }),
  ]);
  expect(verified).toMatchObject(refusal);
  expect(restored).toMatchObject(refusal);
  expect(existsSync(join(dataDir, 'postgres/data'))).toBe(false);
});

test('a restored data directory has accounts, files and keys, readable by their owner alone', async () => {
  const dataDir = temporaryDirectory();
  expect(await qm.run(['backup', 'restore', whole], { DATA_DIR: dataDir })).toMatchObject({ code: 0 });
  expect((await qm.run(['accounts', 'list'], { DATA_DIR: dataDir })).stdout).toContain('kept');
  expect(readFileSync(join(dataDir, 'secrets.key'), 'utf8')).toBe(SECRET);
  expect(statSync(join(dataDir, 'secrets.key')).mode & 0o077).toBe(0);
  expect(statSync(join(whole, 'secrets.key')).mode & 0o077).toBe(0);
  expect(readFileSync(join(dataDir, 'assets/video/one.mp4'), 'utf8')).toBe('a film');
  expect(readFileSync(join(dataDir, 'assets/.quartermaster-assets'), 'utf8')).toBe('a mark');
  // A second restore would lose what happened since.
  const again = await qm.run(['backup', 'restore', whole], { DATA_DIR: dataDir });
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('without a database') });
});

test('a place that is not empty is refused, and stays as it is', async () => {
  const refusal = { code: 1, stderr: expect.stringContaining('not empty') };
  expect(await qm.run(['backup', 'create', whole])).toMatchObject(refusal);
  expect(await qm.run(['backup', 'verify', whole])).toMatchObject({ code: 0 });
});

// Some thousand files, one after the other: longer beside other tests.
test('a bucket takes a backup and gives it back', async () => {
  const s3 = await S3Double.start();
  try {
    const { ASSETS_URL, ASSETS_ACCESS_KEY_ID, ASSETS_SECRET_ACCESS_KEY } = s3.env('backups/one') as Record<
      string,
      string
    >;
    const at = ASSETS_URL as string;
    const env = {
      BACKUP_ACCESS_KEY_ID: ASSETS_ACCESS_KEY_ID as string,
      BACKUP_SECRET_ACCESS_KEY: ASSETS_SECRET_ACCESS_KEY as string,
    };
    expect(await qm.run(['backup', 'create', at])).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('BACKUP_ACCESS_KEY_ID'),
    });
    expect(await qm.run(['backup', 'create', at], env)).toMatchObject({ code: 0, stderr: '' });
    expect(await qm.run(['backup', 'verify', at], env)).toMatchObject({ code: 0, stderr: '' });
    const table = [...s3.objects.keys()].find((key) => key.endsWith('data/base/1/1259')) as string;
    s3.objects.delete(table);
    expect(await qm.run(['backup', 'verify', at], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is missing'),
    });
  } finally {
    await s3.stop();
  }
}, 180_000);

test('with DATABASE_URL the files and keys are backed up, and the rest is said', async () => {
  const at = join(folder, 'beside');
  const env = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' };
  const { code, stdout } = await qm.run(['backup', 'create', at], env);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/pg_dump[\s\S]*pgBackRest/) });
  expect(existsSync(join(at, 'postgres'))).toBe(false);
  expect(await qm.run(['backup', 'verify', at], env)).toMatchObject({ code: 0 });
});
