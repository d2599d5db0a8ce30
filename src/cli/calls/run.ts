// `qm run`: runs a program whose HTTPS goes through the proxy of the service, which puts in the secrets of the account's connections. The program
// gets the address of the proxy and the files of certificates by the variables that the usual clients heed.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { constants as systemConstants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { Command } from 'commander';
import { readEnv } from '../../config/env.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { readIfThere } from '../client/files.ts';
import { CallFailed, readPath } from '../client/http.ts';
import { type Access, access } from '../client/profile.ts';
import { CommandError } from '../output.ts';

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const SIGNALLED = 128;
/** The command's own; a terminal sends SIGINT and SIGQUIT to both. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
/** Where systems keep the certificates that they trust; the first that is there. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];
/** Clients that take a bundle in place of the one of the system. */
const BUNDLE_VARIABLES = [
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'AWS_CA_BUNDLE',
  'PIP_CERT',
  'CARGO_HTTP_CAINFO',
  'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
];
/** Clients that add to those that they trust. */
const ADDED_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'DENO_CERT'];
const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];
const LOCAL = 'localhost,127.0.0.1';
/**
 * Node.js has only fetch and its global agents heed the proxy, and many clients make agents of their own. Older releases take no notice of
 * the option. A proxied class, since some call it without `new`.
 */
const NODE_AGENTS = `for (const name of ['http', 'https']) {
  const module = require(name);
  const heeding = ([options, ...others]) => [{ proxyEnv: process.env, ...options }, ...others];
  module.Agent = new Proxy(module.Agent, {
    construct: (Agent, args, made) => Reflect.construct(Agent, heeding(args), made),
    apply: (Agent, self, args) => Reflect.apply(Agent, self, heeding(args)),
  });
}
require('module').syncBuiltinESMExports();
`;

const HELP = `
The command gets, beside its own environment:
  HTTPS_PROXY, HTTP_PROXY    the proxy of the service, with your API key (also in lower case)
  NO_PROXY                   ${LOCAL}, unless you have set it
  ${ADDED_VARIABLES.join(', ')}
                             a file with the certificate of the proxy
  SSL_CERT_FILE, CURL_CA_BUNDLE, GIT_SSL_CAINFO, REQUESTS_CA_BUNDLE, and those of other clients
                             a file with the certificates of this system and of the proxy
  NODE_USE_ENV_PROXY=1, NODE_OPTIONS
                             Node.js then heeds HTTPS_PROXY, by agents that a program makes too
The files are removed when the command ends. Other users of this machine cannot read them.

Examples:
  qm run -- gh issue list
  qm run -- git clone https://github.com/acme/private.git
  qm run -- python sync.py

Exit code: that of the command; 128 and its number after a signal; 127 when there is no such command.`;

interface ProxyAnswer {
  readonly proxy_url: string;
  readonly ca_pem: string;
}

export function runCommand(): Command {
  return new Command('run')
    .description(
      'Run a command whose requests go through the proxy of the service. Requests to hosts of your connections get their secrets there; the command never sees them.',
    )
    .argument('<command>', 'what to run, after --')
    .argument('[args...]', 'its arguments')
    .option('--plain-proxy', 'send the API key to a proxy on another machine without TLS')
    .passThroughOptions()
    .addHelpText('after', HELP)
    .action(run);
}

interface RunOptions {
  readonly plainProxy?: boolean;
}

async function run(command: string, args: readonly string[], { plainProxy = false }: RunOptions): Promise<void> {
  const to = await access();
  const { proxy_url: proxyUrl, ca_pem: caPem } = await readProxy(to);
  if (!plainProxy && !isPrivate(new URL(proxyUrl)))
    throw new CommandError(
      `The proxy ${proxyUrl} is on another machine, and takes the API key without TLS. On a network that you trust, add --plain-proxy before the command.`,
    );
  const folder = await mkdtemp(join(tmpdir(), 'qm-run-'));
  try {
    const added = [await readNamed('NODE_EXTRA_CA_CERTS'), caPem].filter((pem) => pem !== null).join('\n');
    const own = await writePrivate(join(folder, 'added.pem'), added);
    const bundle = await writePrivate(join(folder, 'bundle.pem'), `${await trustedBundle()}\n${added}`);
    const agents = await writePrivate(join(folder, 'agents.cjs'), NODE_AGENTS);
    process.exitCode = await runProgram(command, args, environment(proxyUrl, to.key, { own, bundle, agents }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether nobody else hears the key: TLS, or this machine. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname);
}

/** Throws CommandError where the service has no proxy. */
async function readProxy(to: Access): Promise<ProxyAnswer> {
  try {
    const { data } = await readPath(to, '/v1/vault/proxy');
    const answer = JSON.parse(data) as Partial<ProxyAnswer>;
    if (typeof answer.proxy_url === 'string' && typeof answer.ca_pem === 'string')
      return { proxy_url: answer.proxy_url, ca_pem: answer.ca_pem };
  } catch (error) {
    if (!(error instanceof CallFailed) || error.status !== 404) throw error;
  }
  throw new CommandError(`${to.url} has no proxy: its operator sets VAULT_PORT to open one.`);
}

/** Of a variable that names a file; null: it is not set, or the file is not there. */
async function readNamed(variable: string): Promise<string | null> {
  const file = readEnv()[variable] ?? '';
  return file === '' ? null : readIfThere(file);
}

/** The bundle that the caller has chosen, else the system's, else the one of Node. */
async function trustedBundle(): Promise<string> {
  for (const variable of BUNDLE_VARIABLES) {
    const text = await readNamed(variable);
    if (text !== null) return text;
  }
  for (const file of SYSTEM_BUNDLES) {
    const text = await readIfThere(file);
    if (text !== null) return text;
  }
  return rootCertificates.join('\n');
}

/** Whoever could write to it could name a CA that the command trusts. */
async function writePrivate(file: string, text: string): Promise<string> {
  const handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  const { mode } = await stat(file);
  if (process.platform !== 'win32' && (mode & 0o777) !== 0o600)
    throw new CommandError(`${file} is open to other users: set TMPDIR to a folder of your own.`);
  return file;
}

interface Files {
  readonly own: string;
  readonly bundle: string;
  readonly agents: string;
}

function environment(proxyUrl: string, key: string, files: Files) {
  const proxy = new URL(proxyUrl);
  proxy.username = 'qm';
  proxy.password = encodeURIComponent(key);
  // Some clients do not take the slash at its end.
  const address = proxy.href.replace(/\/$/, '');
  const { NO_PROXY, no_proxy: lower, NODE_OPTIONS = '', ...env } = readEnv();
  const exempt = NO_PROXY ?? lower ?? LOCAL;
  const each = (names: readonly string[], value: string) => Object.fromEntries(names.map((name) => [name, value]));
  return {
    ...env,
    ...each(PROXY_VARIABLES, address),
    ...each(['NO_PROXY', 'no_proxy'], exempt),
    ...each(ADDED_VARIABLES, files.own),
    ...each(BUNDLE_VARIABLES, files.bundle),
    NODE_USE_ENV_PROXY: '1',
    NODE_OPTIONS: `${NODE_OPTIONS} --require ${JSON.stringify(files.agents)}`.trimStart(),
  };
}

/** Resolves with the exit code. Throws CommandError where it cannot be started. */
async function runProgram(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env });
  const listeners = PASSED_ON.map((signal) => [signal, () => passOn(child, signal)] as const);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  try {
    return await exitCodeOf(child);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT';
    process.stderr.write(
      `qm: ${JSON.stringify(command)} cannot be run: ${isMissing ? 'there is no such command' : message}.\n`,
    );
    return isMissing ? NOT_FOUND : NOT_EXECUTABLE;
  } finally {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  }
}

function exitCodeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve(code ?? SIGNALLED + systemConstants.signals[signal as NodeJS.Signals]);
    });
  });
}

/** A terminal has sent SIGINT and SIGQUIT to the command itself. */
function passOn(child: ChildProcess, signal: NodeJS.Signals): void {
  const isFromTerminal = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT');
  if (!isFromTerminal) child.kill(signal);
}
