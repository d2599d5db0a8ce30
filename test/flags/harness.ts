// A service, an account of it, and its flags as tests write and ask for them.
import { client, createTestAccount, type TestService, type TestServiceOptions } from '../support/service.ts';
import { lendService } from '../support/shared-service.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Data = any;

export interface FlagOwner {
  readonly accountId: string;
  readonly secret: string;
  readonly call: ReturnType<typeof client>;
  /** Answers `data`; throws what is no 200. */
  data(method: string, path: string, body?: unknown): Promise<Data>;
  /** A switch, on unless said otherwise. */
  flag(key: string, fields?: object): Promise<Data>;
  evaluate(key: string, context?: object, type?: string): Promise<Data>;
  ofrep(path: string, context?: object, headers?: Record<string, string>): ReturnType<ReturnType<typeof client>>;
}

export const onOff = { type: 'boolean', variants: { on: true, off: false }, default_variant: 'on' };

export async function startFlagBench(options: TestServiceOptions = {}) {
  const test = await lendService(options);
  return {
    test,
    url: test.url,
    owner: (scopes: string[] | null = null) => ownerOf(test, scopes),
    stop: () => test.stop(),
  };
}

export async function ownerOf(
  test: Pick<TestService, 'core' | 'url'>,
  scopes: string[] | null = null,
): Promise<FlagOwner> {
  const { accountId, secret } = await createTestAccount(test.core, 1, scopes);
  return callerOf(test.url, accountId, secret);
}

export function callerOf(url: string, accountId: string, secret: string): FlagOwner {
  const call = client(url, secret);
  const data: FlagOwner['data'] = async (method, path, body) => {
    const reply = await call(method, path, body);
    if (reply.status !== 200) throw new Error(`${method} ${path}: ${reply.text}`);
    return reply.body.data;
  };
  return {
    accountId,
    secret,
    call,
    data,
    flag: (key, fields = {}) => data('POST', '/v1/flags/create', { key, ...onOff, ...fields }),
    evaluate: async (key, context = {}, type) =>
      (await data('POST', '/v1/flags/evaluate', { key, context, ...(type === undefined ? {} : { type }) })).items[0],
    ofrep: (path, context = {}, headers = {}) =>
      call('POST', `/v1/flags/ofrep/v1/evaluate/flags${path}`, { context }, headers),
  };
}
