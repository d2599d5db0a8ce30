// Every capability's first example through MCP: it answers what REST answers. A write under one idempotency key is the same request by either.
import { afterEach, beforeAll, expect, test } from 'vitest';
import { toolName } from '../../src/kit/capability.ts';
import { partsOf, shownModules } from '../../src/manifest/parts.ts';
import {
  callCapability,
  capabilities,
  createPlayer,
  endVideosAfter,
  manifest,
  outputFaults,
  prepareExample,
} from '../support/capabilities.ts';
import { postMcp, toolCall } from '../support/mcp.ts';
import { client } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

const endVideosOf = endVideosAfter(afterEach);
const parts = shownModules(manifest).flatMap(partsOf);
let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});

test.each(capabilities)('$id', async (capability) => {
  const { secret } = await createPlayer(service.core, capability);
  const call = endVideosOf(client(service.url, secret));
  const example = await prepareExample(call, capability);
  const input = capability.idempotent ? { ...example, idempotency_key: 'once' } : example;
  const part = parts.find(({ capabilities: ofPart }) => ofPart.includes(capability));
  const url = `${service.url}/mcp/${part?.name}`;
  const { body } = await postMcp(url, toolCall(toolName(capability.id), input), { authorization: `Bearer ${secret}` });
  expect(body.result?.isError, JSON.stringify(body)).toBeUndefined();
  const { data, metadata } = body.result.structuredContent;
  expect(outputFaults(capability, data)).toBe('');
  expect(data).toMatchObject(capability.examples[0]?.expect ?? {});
  expect(metadata.entry_form).toBe('mcp');
  if (!capability.idempotent || capability.method === 'DELETE') return;
  const again = await callCapability(call, capability, input);
  expect(again.body).toMatchObject({ ok: true, metadata: { idempotent_replay: true } });
  expect(again.body.data).toEqual(data);
});
