// One service, an account and the real SDK with its credentials, for tests of SQS. Checks of MD5 are on, as the SDK has them.
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  type QueueAttributeName,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
  type SQSClientConfig,
} from '@aws-sdk/client-sqs';
import { lockCaller } from '../../src/core/callers/lock.ts';
import { createKey } from '../../src/core/keys/changes.ts';
import { QueueBench } from '../queue/harness.ts';
import { client, type TestAccount } from '../support/service.ts';
import {
  callSqs,
  formRequest,
  jsonRequest,
  type SigningOptions,
  type SqsKey,
  type SqsReply,
  type SqsRequest,
} from '../support/sqs.ts';

type Attributes = Partial<Record<QueueAttributeName, string>>;

/** What the SDK throws. */
export interface SdkFailure {
  readonly name: string;
  readonly status: number | undefined;
  readonly attempts: number | undefined;
  readonly message: string;
}

export class SqsBench {
  /** The same account by the native API. */
  readonly native: QueueBench;
  readonly key: SqsKey;
  readonly sdk: SQSClient;

  private constructor(native: QueueBench, key: SqsKey) {
    this.native = native;
    this.key = key;
    this.sdk = this.client();
  }

  static async of(native: QueueBench): Promise<SqsBench> {
    return new SqsBench(native, await awsKey(native.service.url, native.account.secret));
  }

  static async start(): Promise<SqsBench> {
    return SqsBench.of(await QueueBench.start());
  }

  get url(): string {
    return this.native.service.url;
  }

  async stop(): Promise<void> {
    this.sdk.destroy();
    await this.native.stop();
  }

  /** The same service for an account of its own. */
  async withAccount(usd = 100): Promise<SqsBench> {
    return SqsBench.of(await this.native.withAccount(usd));
  }

  /** The same account by a key of its own for these scopes. */
  async withScopes(scopes: string[]): Promise<SqsBench> {
    const { core } = this.native.service;
    const { accountId } = this.native.account;
    const made = await core.db.transaction(async (tx) => {
      const nowMs = await lockCaller(tx, accountId);
      return createKey(tx, core.secrets, accountId, { name: null, scopes, expiresAtMs: null, cap: null }, nowMs);
    });
    const account: TestAccount = { accountId, keyId: made.key.keyId, secret: made.secret };
    return SqsBench.of(new QueueBench(this.native.service, account));
  }

  client(config: SQSClientConfig = {}): SQSClient {
    return new SQSClient({ endpoint: `${this.url}/sqs`, region: 'us-east-1', credentials: this.key, ...config });
  }

  /** Creates a queue and answers its URL. */
  async create(name: string, attributes: Attributes = {}): Promise<string> {
    const { QueueUrl } = await this.sdk.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
    return QueueUrl as string;
  }

  createFifo(name: string, attributes: Attributes = {}): Promise<string> {
    return this.create(name, { FifoQueue: 'true', ContentBasedDeduplication: 'true', ...attributes });
  }

  /** A queue and the dead-letter queue it has, as URLs and the ARN of the latter. */
  async createWithDlq(name: string, maxReceiveCount: number, attributes: Attributes = {}) {
    const [stem = '', fifo = ''] = name.split(/(?=\.fifo$)/);
    const ofDead = fifo === '' ? {} : { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
    const deadUrl = await this.create(`${stem}-dead${fifo}`, ofDead);
    const { QueueArn: deadArn = '' } = await this.attributes(deadUrl);
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: deadArn, maxReceiveCount });
    const url = await this.create(name, { ...ofDead, RedrivePolicy, ...attributes });
    return { url, deadUrl, deadArn };
  }

  send(QueueUrl: string, MessageBody: string, fields: Partial<SendMessageCommandInput> = {}) {
    return this.sdk.send(new SendMessageCommand({ QueueUrl, MessageBody, ...fields }));
  }

  async receive(QueueUrl: string, fields: Partial<ReceiveMessageCommandInput> = {}): Promise<Message[]> {
    const asked = { MaxNumberOfMessages: 10, WaitTimeSeconds: 0, ...fields };
    return (await this.sdk.send(new ReceiveMessageCommand({ QueueUrl, ...asked }))).Messages ?? [];
  }

  /** Bodies in the order delivered. */
  async bodies(QueueUrl: string, fields: Partial<ReceiveMessageCommandInput> = {}) {
    return (await this.receive(QueueUrl, fields)).map(({ Body }) => Body);
  }

  async attributes(QueueUrl: string, names: QueueAttributeName[] = ['All']): Promise<Attributes> {
    return (await this.sdk.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: names }))).Attributes ?? {};
  }

  /** Visible, not visible, delayed. */
  async counts(QueueUrl: string): Promise<number[]> {
    const found = await this.attributes(QueueUrl);
    return [
      Number(found.ApproximateNumberOfMessages),
      Number(found.ApproximateNumberOfMessagesNotVisible),
      Number(found.ApproximateNumberOfMessagesDelayed),
    ];
  }

  raw(request: SqsRequest, options?: SigningOptions): Promise<SqsReply> {
    return callSqs(this.url, request, this.key, options);
  }

  json(action: string, input: unknown, headers?: Record<string, string>): Promise<SqsReply> {
    return this.raw(jsonRequest(action, input, headers));
  }

  form(action: string, fields: Readonly<Record<string, string>>): Promise<SqsReply> {
    return this.raw(formRequest([['Action', action], ['Version', '2012-11-05'], ...Object.entries(fields)]));
  }
}

/** The AWS credentials of a secret. */
export async function awsKey(url: string, secret: string): Promise<SqsKey> {
  const { body } = await client(url, secret)('GET', '/v1/account/keys/aws');
  return { accessKeyId: body.data.access_key_id, secretAccessKey: body.data.secret_access_key };
}

/** How a call of the SDK fails. Throws when it does not. */
export async function failureOf(call: Promise<unknown>): Promise<SdkFailure> {
  const failed = await call.then(
    (answer) => {
      throw new TypeError(`the call succeeded: ${JSON.stringify(answer)}`);
    },
    (error) => error,
  );
  if (failed.$metadata === undefined) throw failed;
  const { httpStatusCode: status, attempts } = failed.$metadata;
  return { name: failed.name, status, attempts, message: failed.message };
}
