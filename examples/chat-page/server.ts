// A chat with a model whose answers survive reloads: the server asks, the page listens to a channel and goes on where it was.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const base = process.env.QM_URL ?? 'http://127.0.0.1:8787';
const model = process.env.QM_MODEL ?? 'auto';

async function call<Data>(path: string, body: object): Promise<Data> {
  const reply = await fetch(`${base}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.QM_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { ok, data, error } = (await reply.json()) as { ok: boolean; data: Data; error: { message: string } };
  if (!ok) throw new Error(error.message);
  return data;
}

// The page remembers its channel and the last event it has seen; the token can only listen to that channel.
const page = `<!doctype html><meta charset="utf-8"><title>Chat</title>
<form><input name="prompt" aria-label="Prompt" required> <button>Send</button></form><pre></pre>
<script type="module">
const said = document.querySelector('pre');
const state = JSON.parse(sessionStorage.chat ?? 'null') ?? { channel: 'chat-' + crypto.randomUUID(), last: '', text: '' };
said.textContent = state.text;
const post = (path, body) => fetch(path, { method: 'POST', body: JSON.stringify(body) }).then((reply) => reply.json());
document.forms[0].onsubmit = (sent) => {
  sent.preventDefault();
  post('/ask', { channel: state.channel, prompt: sent.target.prompt.value });
};
const { url } = await post('/listen', { channel: state.channel });
const source = new EventSource(url + '&last_event_id=' + state.last);
source.onmessage = ({ data, lastEventId }) => {
  const { event, data: { text = '', message } } = JSON.parse(data);
  if (event === 'ai.start') state.text += '\\n> ';
  if (event === 'ai.delta') state.text += text;
  if (event === 'ai.failed') state.text += message;
  state.last = lastEventId;
  said.textContent = state.text;
  sessionStorage.chat = JSON.stringify(state);
};
</script>`;

async function answer(path: string, body: string): Promise<object> {
  const { channel, prompt } = JSON.parse(body) as { channel: string; prompt: string };
  if (path === '/listen') {
    const { token } = await call<{ token: string }>('realtime/authorize', { channels: [channel] });
    return { url: `${base}/v1/realtime/stream?token=${token}` };
  }
  await call('ai/chat', { model, messages: [{ role: 'user', content: prompt }], stream_to: channel });
  return {};
}

createServer(async (request, reply) => {
  if (request.method !== 'POST') return void reply.writeHead(200, { 'content-type': 'text/html' }).end(page);
  try {
    reply.end(JSON.stringify(await answer(request.url ?? '', await text(request))));
  } catch (error) {
    reply.writeHead(502).end(JSON.stringify({ message: String(error) }));
  }
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log('http://127.0.0.1:3000'));
