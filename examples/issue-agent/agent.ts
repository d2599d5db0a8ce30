// Opens an issue at a forge for each group of errors that has none, with a token that it never sees: node agent.ts acme/shop. The connection
// (CONNECTION, or forge) holds the token, and its rule names the paths that the program may call.
import { call } from '../quartermaster.ts';

const [repository] = process.argv.slice(2);
if (repository === undefined) throw new Error('node agent.ts OWNER/REPOSITORY');
const connection = process.env.CONNECTION ?? 'forge';
const url = `/repos/${repository}/issues`;

/** What the forge answers, as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: the answer of a forge
async function atForge(input: object, wanted: number): Promise<any> {
  const { status, body } = await call('vault/call', { connection, ...input });
  if (status !== wanted) throw new Error(`the forge answered ${status}: ${body}`);
  return JSON.parse(body);
}

const open: { title: string }[] = await atForge({ url: `${url}?state=open&per_page=100` }, 200);
const { items: groups } = await call('errors/groups');
for (const { error_group_id: id, title, event_count: events } of groups) {
  if (open.some((issue) => issue.title === title)) continue;
  const issue = { title, body: `Seen ${events} times.` };
  // Under this key the request is sent once, also when the program is killed here and started again.
  const once = { idempotency_key: `issue-${id}` };
  const made = await atForge({ method: 'POST', url, body: JSON.stringify(issue), ...once }, 201);
  console.log(`${title}: ${made.html_url}`);
}
