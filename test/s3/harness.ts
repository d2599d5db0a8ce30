// One service with a root for S3 on a port of its own, an account, and the real SDK with its credentials. Checksums are as the SDK has them:
// sent with every body, compared with every answer.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import {
  CreateBucketCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import {
  type Client,
  client,
  createTestAccount,
  type TestAccount,
  type TestService,
  type TestServiceOptions,
} from '../support/service.ts';
import { lendService } from '../support/shared-service.ts';

export interface S3Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What the SDK throws. */
export interface S3Failure {
  readonly name: string;
  readonly status: number | undefined;
  readonly message: string;
}

export const DOMAIN = 's3.quartermaster.test';

export class S3Bench {
  readonly service: TestService;
  /** Where the root is that of S3. */
  readonly root: string;
  readonly account: TestAccount;
  readonly key: S3Key;
  readonly sdk: S3Client;

  private constructor(service: TestService, root: string, account: TestAccount, key: S3Key) {
    this.service = service;
    this.root = root;
    this.account = account;
    this.key = key;
    this.sdk = this.client();
  }

  static async start({ usd = 100, ...options }: TestServiceOptions & { usd?: number } = {}): Promise<S3Bench> {
    const env = { S3_DOMAIN: DOMAIN, ...options.env };
    const service = await lendService({ ...options, env }, async () => ({ S3_PORT: String(await freePort()) }));
    return S3Bench.of(service, `http://127.0.0.1:${service.env.S3_PORT}`, await createTestAccount(service.core, usd));
  }

  private static async of(service: TestService, root: string, account: TestAccount): Promise<S3Bench> {
    const { body } = await client(service.url, account.secret)('GET', '/v1/account/keys/aws');
    const key = { accessKeyId: body.data.access_key_id, secretAccessKey: body.data.secret_access_key };
    return new S3Bench(service, root, account, key);
  }

  async stop(): Promise<void> {
    this.sdk.destroy();
    await this.service.stop();
  }

  get url(): string {
    return this.service.url;
  }

  get rest(): Client {
    return client(this.service.url, this.account.secret);
  }

  /** The same service for an account of its own. */
  async withAccount(usd = 100): Promise<S3Bench> {
    return S3Bench.of(this.service, this.root, await createTestAccount(this.service.core, usd));
  }

  /** The same account by a key of its own for these scopes. */
  async withScopes(scopes: string[]): Promise<S3Bench> {
    const { core } = this.service;
    const { accountId } = this.account;
    const made = await core.db.transaction(async (tx) => {
      const nowMs = await lockCaller(tx, accountId);
      return createKey(tx, core.secrets, accountId, { name: null, scopes, expiresAtMs: null, cap: null }, nowMs);
    });
    return S3Bench.of(this.service, this.root, { accountId, keyId: made.key.keyId, secret: made.secret });
  }

  client(config: S3ClientConfig = {}): S3Client {
    return new S3Client({
      endpoint: `${this.url}/s3`,
      forcePathStyle: true,
      region: 'us-east-1',
      credentials: this.key,
      maxAttempts: 1,
      ...config,
    });
  }

  async bucket(name: string): Promise<string> {
    await this.sdk.send(new CreateBucketCommand({ Bucket: name }));
    return name;
  }

  put(Bucket: string, Key: string, Body: string | Uint8Array = '', more: object = {}) {
    return this.sdk.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
  }

  async text(Bucket: string, Key: string): Promise<string> {
    const { Body } = await this.sdk.send(new GetObjectCommand({ Bucket, Key }));
    return (await Body?.transformToString()) ?? '';
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** How a call of the SDK fails. Throws when it does not. */
export async function failureOf(call: Promise<unknown>): Promise<S3Failure> {
  const failed = await call.then(
    (answer) => {
      throw new TypeError(`the call succeeded: ${JSON.stringify(answer)}`);
    },
    (error) => error,
  );
  if (failed.$metadata === undefined) throw failed;
  return { name: failed.name, status: failed.$metadata.httpStatusCode, message: failed.message };
}
