// A primary name server of Debian, BIND or Knot, with zones that a TSIG key may transfer and update. It runs in a directory of its own.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './process.ts';

export type Maker = 'bind' | 'knot';
const programs: Readonly<Record<Maker, string>> = { bind: '/usr/sbin/named', knot: '/usr/sbin/knotd' };

export const isInstalled = (maker: Maker): boolean => existsSync(programs[maker]);

export interface Authoritative {
  /** `127.0.0.1:port`. */
  readonly address: string;
  readonly keyName: string;
  /** Base64. */
  readonly secret: string;
  readonly algorithm: string;
  stop(): Promise<void>;
}

/** Each zone begins with two name servers, `ns1.ZONE` and `ns2.ZONE`, and their addresses. */
export async function startAuthoritative(
  maker: Maker,
  zones: readonly string[],
  { algorithm = 'hmac-sha256', keyName = 'quartermaster.test' } = {},
): Promise<Authoritative> {
  const room = await mkdtemp(join(tmpdir(), `${maker}-`));
  const port = await freePort();
  const secret = randomBytes(32).toString('base64');
  await mkdir(join(room, 'db'));
  for (const zone of zones) await writeFile(join(room, `${zone}.zone`), zoneFile(zone));
  const config = join(room, 'server.conf');
  const settings = { room, port, secret, algorithm, keyName, zones };
  await writeFile(config, maker === 'bind' ? bindConfig(settings) : knotConfig(settings));
  const words = maker === 'bind' ? ['-g', '-4', '-c', config] : ['-c', config];
  const child = spawn(programs[maker], words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  for (let left = 200; !(await takes(port)); left -= 1) {
    if (left === 0 || child.exitCode !== null) throw new Error(`${maker} did not start: ${said}`);
    await sleep(50);
  }
  return {
    address: `127.0.0.1:${port}`,
    keyName,
    secret,
    algorithm,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(room, { recursive: true, force: true });
    },
  };
}

interface Settings {
  readonly room: string;
  readonly port: number;
  readonly secret: string;
  readonly algorithm: string;
  readonly keyName: string;
  readonly zones: readonly string[];
}

function bindConfig({ room, port, secret, algorithm, keyName, zones }: Settings): string {
  const zone = (name: string) =>
    `zone "${name}" { type primary; file "${room}/${name}.zone"; allow-update { key "${keyName}"; }; allow-transfer { key "${keyName}"; }; };`;
  return `key "${keyName}" { algorithm ${algorithm}; secret "${secret}"; };
options { directory "${room}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; recursion no;
  pid-file "${room}/pid"; session-keyfile "${room}/session.key"; dnssec-validation no; minimal-responses yes; };
controls { };
${zones.map(zone).join('\n')}
`;
}

function knotConfig({ room, port, secret, algorithm, keyName, zones }: Settings): string {
  return `server:
    rundir: "${room}"
    listen: 127.0.0.1@${port}
database:
    storage: "${room}/db"
key:
  - id: ${keyName}
    algorithm: ${algorithm}
    secret: ${secret}
acl:
  - id: holder
    key: ${keyName}
    action: [transfer, update]
zone:
${zones.map((name) => `  - domain: ${name}\n    file: "${room}/${name}.zone"\n    acl: holder`).join('\n')}
`;
}

function zoneFile(zone: string): string {
  return `$ORIGIN ${zone}.
$TTL 300
@ IN SOA ns1 hostmaster 1 3600 600 1209600 300
@ IN NS ns1
@ IN NS ns2
ns1 IN A 192.0.2.53
ns2 IN A 192.0.2.54
`;
}

async function takes(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
