// Inputs and set-up calls for the examples of batches.
export const twoRequests = {
  items: [
    {
      custom_id: 'greeting',
      capability: 'ai.chat',
      body: { model: 'sandbox/echo-1', messages: [{ role: 'user', content: 'Say hello.' }] },
    },
    {
      custom_id: 'boat',
      capability: 'ai.embed',
      body: { model: 'sandbox/ngram-1', input: 'A boat on a pond.', dimensions: 64 },
    },
  ],
};

export const created = { capability: 'ai.batch.create', input: twoRequests };
export const completed = {
  capability: 'ai.batch.get',
  input: { batch_id: '$0.batch_id' },
  until: { status: 'completed' },
};

export const muchToDo = {
  capability: 'ai.batch.create',
  input: {
    items: Array.from({ length: 40 }, (_, n) => ({
      custom_id: `slow-${n}`,
      capability: 'ai.chat',
      body: { model: 'sandbox/echo-1', messages: [{ role: 'user', content: '[[slow:100]] Say hello.' }] },
    })),
  },
};
