// Folders with a Debian of their own, and commands run in them as containers run them: with mounts and process ids of their own, which end
// with the command. Linux, as root.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './process.ts';

const CACHE = join(PROJECT, 'node_modules/.cache/debian');
const NPM = 'npm@11.19.1';
const CA_INSIDE = '/run/ca-certificates.crt';
export const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The first of Debian's packages that is missing here, or what else stands in the way; null where folders can be made. */
export function missingForChroot(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux';
  const programs = { debootstrap: 'debootstrap', unshare: 'util-linux', nsenter: 'util-linux', ip: 'iproute2' };
  for (const [program, name] of Object.entries(programs))
    if (spawnSync(program, ['--version']).error !== undefined) return `Debian's package ${name}`;
  const mayUnshare = spawnSync('unshare', ['--mount', '--pid', '--net', '--fork', 'true']).status === 0;
  return mayUnshare ? null : 'the right to make namespaces';
}

/** Makes `folder` what the image is: `debian:bookworm-slim`, or `node:24-bookworm-slim`, which has Node and npm beside it. */
export function layBase(image: string, folder: string): void {
  const release = /^(?:debian|node):(?:24-)?(\w+)-slim$/.exec(image)?.[1];
  if (release === undefined) throw new Error(`no folder stands for the image ${image}`);
  execFileSync('cp', ['-a', makeOnce(release, (place) => bootstrap(release, place)), folder]);
  if (!image.startsWith('node:')) return;
  const local = join(folder, 'usr/local');
  cpSync(join(PROJECT, 'node_modules/node/bin/node'), join(local, 'bin/node'));
  cpSync(makeOnce('npm', unpackNpm), join(local, 'lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
}

/** A folder that is made once: whole, or not at all. */
function makeOnce(name: string, make: (place: string) => void): string {
  const place = join(CACHE, name);
  if (existsSync(place)) return place;
  rmSync(`${place}.part`, { recursive: true, force: true });
  mkdirSync(`${place}.part`, { recursive: true });
  make(`${place}.part`);
  renameSync(`${place}.part`, place);
  return place;
}

function bootstrap(release: string, place: string): void {
  execFileSync('debootstrap', ['--variant=minbase', release, place], { stdio: 'pipe' });
  rmSync(join(place, 'var/cache/apt/archives'), { recursive: true });
}

function unpackNpm(place: string): void {
  const packed = execFileSync('npm', ['pack', NPM, '--silent'], { cwd: place, encoding: 'utf8' }).trim();
  execFileSync('tar', ['xzf', packed, '--strip-components=1'], { cwd: place });
  rmSync(join(place, packed));
}

/** Where this machine gets packages, for a command that builds: proxies, registry, certificates. No image keeps it. */
function networkOfThisMachine(): { readonly env: Record<string, string>; readonly mounts: string } {
  const npmSetting = (name: string) => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
  const proxies = Object.entries(process.env).filter(([name]) => /^(?:https?|no)_proxy$/i.test(name));
  const env: Record<string, string> = { ...Object.fromEntries(proxies as [string, string][]) };
  env.npm_config_registry = npmSetting('registry');
  const names = ['/etc/resolv.conf', '/etc/hosts'];
  const mounts = [
    'mount -t tmpfs tmpfs "$ROOT/run"',
    ...names.map((path) => `touch "$ROOT${path}"; mount --bind "$(readlink -f ${path})" "$ROOT${path}"`),
  ];
  const ca = [process.env.NODE_EXTRA_CA_CERTS, npmSetting('cafile')].find(
    (path) => path !== undefined && existsSync(path),
  );
  if (ca !== undefined) {
    mounts.push(`cp "${ca}" "$ROOT${CA_INSIDE}"`);
    Object.assign(env, { npm_config_cafile: CA_INSIDE, NODE_EXTRA_CA_CERTS: CA_INSIDE });
  }
  return { env, mounts: mounts.join('\n') };
}

const DEVICES = `mount -t proc proc "$ROOT/proc"
mount -t tmpfs -o mode=755 tmpfs "$ROOT/dev"
mkdir -m 1777 "$ROOT/dev/shm"
mount -t tmpfs -o size=256m,mode=1777 tmpfs "$ROOT/dev/shm"
for device in null zero full random urandom; do
  touch "$ROOT/dev/$device"
  mount --bind "/dev/$device" "$ROOT/dev/$device"
done
ln -s /proc/self/fd "$ROOT/dev/fd"`;

export interface Settings {
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
}

const words = ({ env, workdir }: Settings) => [
  ...['env', '-i', `--chdir=${workdir}`, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
];

/** Runs a step of a build as root. Throws with what it said when it fails. */
export function runStep(root: string, settings: Settings, command: readonly string[]): void {
  const network = networkOfThisMachine();
  const script = `set -e\n${DEVICES}\n${network.mounts}\nexec chroot "$ROOT" "$@"`;
  const env = { ...settings.env, ...network.env };
  const args = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh', ...words({ ...settings, env })];
  const { status, stdout, stderr } = spawnSync('unshare', [...args, ...command], {
    env: { ...process.env, ROOT: root },
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  });
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
}

/** No capability, no new privileges: what compose.yaml asks for. */
const confinedCommand = (user: string) => [
  ...['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--no-new-privs', '--bounding-set=-all', '--'],
];

/**
 * Starts a command as a container does: process 1, a network of its own, a root that is read-only, and `volume` mounted at `mountedAt`, which
 * with /tmp is all that it may write to.
 */
export function startContained(
  root: string,
  settings: Settings & { readonly user: string },
  volume: { readonly folder: string; readonly mountedAt: string },
  command: readonly string[],
): ChildProcess {
  const script = `set -e
mount --bind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
${DEVICES}
mount -t tmpfs -o mode=1777 tmpfs "$ROOT/tmp"
mount --bind "$VOLUME" "$ROOT$MOUNTED_AT"
ip link set lo up
exec chroot "$ROOT" "$@"`;
  const namespaces = ['--mount', '--pid', '--net', '--fork', '--kill-child'];
  const inside = [...words(settings), ...confinedCommand(settings.user), ...command];
  return spawn('unshare', [...namespaces, 'sh', '-c', script, 'sh', ...inside], {
    env: { ...process.env, ROOT: root, VOLUME: volume.folder, MOUNTED_AT: volume.mountedAt },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a command in a container that runs, as `docker exec` does; `pid` is its process 1, seen from outside. */
export function execContained(
  pid: number,
  settings: Settings & { readonly user: string },
  command: readonly string[],
): { readonly status: number | null; readonly output: string } {
  const inside = [...words(settings), ...confinedCommand(settings.user), ...command];
  const args = ['--target', String(pid), '--mount', '--pid', '--net', '--root', '--wd', ...inside];
  const { status, stdout, stderr } = spawnSync('nsenter', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}
