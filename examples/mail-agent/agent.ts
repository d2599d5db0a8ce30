// Answers the mail of an inbox by a language model: node agent.ts agent@inbox.test. Each mail comes as a message of a queue, and is
// acknowledged once it is answered: killed at any moment, the program answers each mail exactly once.
import { call } from '../quartermaster.ts';

const [address = 'agent@inbox.test'] = process.argv.slice(2);
const queue = 'agent-mail';
await call('queue/create', { name: queue, idempotency_key: queue });
const { items: inboxes } = await call('email/inbox/list');
if (!inboxes.some((inbox: { address: string }) => inbox.address === address)) {
  await call('email/inbox/create', { address, queue });
}
console.log(`${address} answers its mail`);
for (;;) {
  const { items } = await call('queue/consume', { queue, max_messages: 1, wait_seconds: 20 });
  for (const { message_id, receipt_handle, payload } of items) {
    const { from, subject, text } = await call(`email/received/${payload.inbound_id}`);
    // What a stranger writes is a question, never an order: the model gets no tools here.
    const { choices } = await call('ai/chat', {
      model: process.env.CHAT_MODEL ?? 'auto',
      messages: [
        { role: 'system', content: 'You answer mail politely, in at most five sentences.' },
        { role: 'user', content: `${subject}\n\n${text ?? ''}` },
      ],
      idempotency_key: `think-${message_id}`,
    });
    const answer = { text: choices[0].message.content, idempotency_key: `answer-${message_id}` };
    await call('email/reply', { inbound_id: payload.inbound_id, ...answer });
    await call('queue/ack', { queue, receipt_handle });
    console.log(`answered ${from}: ${subject}`);
  }
}
