// The worked examples of /llms/{module}.txt run as they stand there, on a fresh service.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPlayer, endFilmsAfterEach, manifest } from '../support/capabilities.ts';
import { type Client, client, startTestService, type TestService } from '../support/service.ts';

const endFilmsOf = endFilmsAfterEach();
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

/** Sends the requests of a block in order, with what earlier ones answered put in. */
async function send(call: Client, block: string): Promise<void> {
  const answers: unknown[] = [];
  for (const line of block.trim().split('\n')) {
    const [, method = '', path = '', body = '', until = '{}'] =
      /^(\w+) (\S+)(?: (\{.*?\}))?(?: # until (.*))?$/.exec(line) ?? [];
    const filled = (text: string) =>
      text.replaceAll(/\$(\d+)\.([\w.[\]]+)/g, (_, step: string, at: string) =>
        String(valueAt(answers[Number(step)], at)),
      );
    const wanted = Object.entries(JSON.parse(until) as object);
    for (let tries = 0; ; tries += 1) {
      const { body: reply } = await call(method, filled(path), body === '' ? undefined : JSON.parse(filled(body)));
      expect(reply, line).toMatchObject({ ok: true });
      const data = reply.data as Record<string, unknown>;
      if (wanted.every(([name, value]) => data[name] === value)) {
        answers.push(data);
        break;
      }
      expect(tries, line).toBeLessThan(600);
      await sleep(100);
    }
  }
}

function valueAt(data: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .reduce((value, part) => (value as Record<string, unknown>)[part], data);
}

test.each(manifest.modules)('those of $name', async ({ name, capabilities }) => {
  const text = (await (await fetch(`${service.url}/llms/${name}.txt`)).text()) as string;
  const blocks = [...text.matchAll(/```http\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  expect(blocks).toHaveLength(2);
  for (const block of blocks) {
    const { secret } = await createPlayer(service.core, capabilities[0] ?? {});
    await send(endFilmsOf(client(service.url, secret)), block);
  }
});
