// A certificate by Debian's lego for a domain and its wildcard, proved by a record that lego sets by the pdns provider.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startAcmeCa } from '../support/acme-ca.ts';

const run = promisify(execFile);
const LEGO = '/usr/bin/lego';

export const hasLego = existsSync(LEGO);

interface Wanted {
  readonly domain: string;
  /** Of this service. */
  readonly url: string;
  readonly secret: string;
  /** `address:port` of the name server that the authority asks. */
  readonly nameServer: string;
}

/** Names of the certificate, and those that were proved. */
export async function certificateByLego({ domain, url, secret, nameServer }: Wanted) {
  const ca = await startAcmeCa(nameServer);
  const room = await mkdtemp(join(tmpdir(), 'lego-'));
  try {
    const words = [
      ...['--accept-tos', '--email', `a@${domain}`, '--server', ca.directory, '--path', room, '--dns', 'pdns'],
      ...['--dns.disable-cp', '--dns.resolvers', nameServer, '--domains', `*.${domain}`, '--domains', domain, 'run'],
    ];
    const pdns = { PDNS_API_URL: `${url}/v1/dns/powerdns`, PDNS_API_KEY: secret };
    await run(LEGO, words, { env: { ...process.env, ...pdns, PDNS_TTL: '1', PDNS_POLLING_INTERVAL: '1' } });
    const { subjectAltName } = new X509Certificate(await readFile(join(room, 'certificates', `_.${domain}.crt`)));
    return { names: subjectAltName, proved: ca.proved.map(([name]) => name).sort() };
  } finally {
    await ca.stop();
    await rm(room, { recursive: true, force: true });
  }
}
