import Type from 'typebox';
import { defineCapability } from '../../../../kit/capability.ts';
import { nobody, readExclusions } from '../../../../routing/routing.ts';
import { routingRecord, routingSchema } from './schemas.ts';

export const routingGet = defineCapability()({
  method: 'GET',
  path: '/v1/account/routing/get',
  summary: 'Shows which vendors AI calls go to, and which the account excludes.',
  description:
    'One entry for each capability that can be routed. chain is whom `auto` leads to, in the order in which they are asked: the service ' +
    'sets the order, the account excludes vendors with account.routing.set.',
  keywords: ['excluded vendors', 'ai routing rules'],
  input: Type.Object({}),
  output: Type.Object({ capabilities: Type.Array(routingSchema, { description: 'Each capability that is routed.' }) }),
  examples: [{ title: 'Where calls go', input: {} }],
  async run({ ctx }) {
    const { core, accountId } = ctx;
    const exclusions = await readExclusions(core.db, accountId);
    const capabilities = core.vendors.routable.map((id) => routingRecord(core, id, exclusions.get(id) ?? nobody));
    return { data: { capabilities } };
  },
});
