// A page that tries every way out of its browser that we know of, and pages that want to take it for ever.

/** `trap`: host and port that nobody may reach. `udp`: the same for datagrams. `file`: of this machine. */
export function escapingPage(trap: string, udp: number, file: string): string {
  return `<!doctype html><title>Escaping</title><link rel=preconnect href="http://${trap}"><link rel=dns-prefetch href="http://${trap}">
<link rel=prefetch href="http://${trap}/prefetch"><link rel=modulepreload href="http://${trap}/m.js"><link rel=preload as=image href="http://${trap}/p">
<link rel=stylesheet href="http://${trap}/s.css"><link rel=icon href="http://${trap}/icon"><link rel=manifest href="http://${trap}/manifest">
<script type=speculationrules>{"prefetch":[{"urls":["http://${trap}/spec"]}],"prerender":[{"urls":["/led"]}]}</script>
<style>@import url(http://${trap}/i.css); @font-face { font-family: F; src: url(http://${trap}/f) } p { font-family: F; background: url(http://${trap}/b) }</style>
<body style="margin:0"><p>text</p><img src="http://${trap}/img"><img src="/to-trap"><video src="http://${trap}/v" autoplay></video><audio src="http://${trap}/a" autoplay></audio>
<object data="http://${trap}/o"></object><embed src="http://${trap}/e"><iframe src="http://${trap}/f"></iframe><iframe src="/to-trap"></iframe>
<iframe src="file://${file}" style="position:fixed;inset:0;width:100vw;height:100vh;border:0"></iframe>
<form id=form method=post action="http://${trap}/form" target=_blank><input name=a></form><a id=ping href="#" ping="http://${trap}/ping">x</a>
<svg><image href="http://${trap}/svg" /></svg>
<script>
const trap = '${trap}', tried = [];
// What the browser refuses at once is refused; the trap shows whether anything got through.
const attempt = (name, work) => { try { tried.push(name); const made = work(); made?.catch?.(() => {}); } catch {} };
for (const host of [trap, trap.replace('127.0.0.1', 'localhost'), trap.replace('127.0.0.1', '[::1]'), trap.replace('127.0.0.1', '0.0.0.0'), trap.replace('127.0.0.1', '2130706433')]) {
  attempt('fetch', () => fetch('http://' + host + '/fetch'));
  attempt('no-cors', () => fetch('https://' + host + '/no-cors', { mode: 'no-cors' }));
  attempt('socket', () => new WebSocket('ws://' + host + '/ws'));
  attempt('secure socket', () => new WebSocket('wss://' + host + '/wss'));
}
attempt('post', () => fetch('http://' + trap + '/post', { method: 'POST', mode: 'no-cors', body: 'x', keepalive: true }));
attempt('beacon', () => navigator.sendBeacon('http://' + trap + '/beacon', 'x'));
attempt('xhr', () => { const x = new XMLHttpRequest(); x.open('GET', 'http://' + trap + '/xhr'); x.send(); });
attempt('events', () => new EventSource('http://' + trap + '/events'));
attempt('transport', () => new WebTransport('https://127.0.0.1:${udp}/wt').ready);
attempt('transport of tcp', () => new WebTransport('https://' + trap + '/wt').ready);
attempt('import', () => import('http://' + trap + '/import.js'));
attempt('worker', () => new Worker(URL.createObjectURL(new Blob(['fetch("http://' + trap + '/w");new WebSocket("ws://' + trap + '/w");importScripts("http://' + trap + '/w.js")']))));
attempt('shared worker', () => new SharedWorker(URL.createObjectURL(new Blob(['fetch("http://' + trap + '/sw");new EventSource("http://' + trap + '/sw")']))));
attempt('service worker', () => navigator.serviceWorker.register('/worker.js'));
attempt('rtc', () => {
  const urls = ['stun:127.0.0.1:${udp}', 'stun:' + trap];
  const relays = ['turn:127.0.0.1:${udp}?transport=udp', 'turn:' + trap + '?transport=tcp', 'turns:' + trap + '?transport=tcp'];
  const peer = new RTCPeerConnection({ iceServers: [{ urls }, { urls: relays, username: 'a', credential: 'b' }] });
  peer.createDataChannel('x');
  return peer.createOffer().then((offer) => peer.setLocalDescription(offer));
});
attempt('rtc candidate', async () => {
  const [a, b] = [new RTCPeerConnection(), new RTCPeerConnection()];
  a.createDataChannel('x');
  await a.setLocalDescription(await a.createOffer());
  await b.setRemoteDescription(a.localDescription);
  await b.setLocalDescription(await b.createAnswer());
  await a.setRemoteDescription(b.localDescription);
  for (const [port, kind] of [[${udp}, 'udp'], [trap.split(':')[1], 'tcp']])
    await a.addIceCandidate({ sdpMid: '0', candidate: 'candidate:1 1 ' + kind + ' 2122260223 127.0.0.1 ' + port + ' typ host' + (kind === 'tcp' ? ' tcptype passive' : '') });
});
attempt('window', () => window.open('http://' + trap + '/window'));
attempt('blank window', () => { const w = window.open('about:blank'); w.document.write('<img src="http://' + trap + '/written">'); w.fetch('http://' + trap + '/w'); });
attempt('form', () => document.getElementById('form').submit());
attempt('ping', () => document.getElementById('ping').click());
attempt('place', () => navigator.geolocation.getCurrentPosition(() => { document.title = 'located' }));
attempt('notice', () => Notification.requestPermission().then((said) => { if (said === 'granted') document.title = 'granted' }));
attempt('camera', () => navigator.mediaDevices.getUserMedia({ video: true }).then(() => { document.title = 'seen' }));
attempt('fetch later', () => fetchLater('http://' + trap + '/later', { activateAfter: 0 }));
attempt('mail', () => { const f = document.createElement('iframe'); f.src = 'mailto:a@example.com'; document.body.append(f); });
fetch('/tried?' + encodeURIComponent(tried.length));
</script>`;
}

/** What each does to whoever shows it. `shown`: it may well be shown. */
export const endlessPages: readonly (readonly [name: string, html: string])[] = [
  ['a loop', '<p>x</p><script>for (;;);</script>'],
  ['alerts', '<script>for (;;) alert("x")</script>'],
  ['memory', '<script>const all = []; for (;;) all.push(new Uint8Array(5e7).fill(1))</script>'],
  ['memory of scripts', '<script>const all = []; for (;;) all.push({ all, x: new Array(1e5).fill({}) })</script>'],
  [
    'memory of a worker',
    '<script>new Worker(URL.createObjectURL(new Blob(["const all=[];for(;;)all.push(new Uint8Array(5e7).fill(1))"])))</script>',
  ],
  ['elements', `<script>for (let i = 0; i < 1e5; i++) document.write('<div style="float:left">x</div>')</script>`],
  [
    'canvases',
    `<script>for (let i = 0; i < 50; i++) { const c = document.createElement('canvas'); c.width = c.height = 16000;
    c.getContext('2d').fillRect(0, 0, 16000, 16000); document.body.append(c); }</script><body></body>`,
  ],
  ['windows', '<script>setInterval(() => { for (let i = 0; i < 20; i++) open("about:blank") })</script>'],
  ['reloads', '<script>location.reload()</script>'],
  ['leading on', '<script>location.href = "/endless?" + Math.random()</script>'],
  ['history', '<script>for (let i = 0; ; i++) history.pushState(i, "", "?" + i)</script>'],
  [
    'a page of a blob',
    '<script>location.href = URL.createObjectURL(new Blob(["<h1>blob</h1>"], { type: "text/html" }))</script>',
  ],
  ['frames in frames', '<iframe src="/endless?frames" onload="document.body.append(this.cloneNode())"></iframe>'],
  ['a height without end', '<div style="height: 1e9px; background: linear-gradient(red, blue)"></div>'],
  [
    'an animation',
    '<style>@keyframes k { to { filter: blur(500px) } } * { animation: k 1s infinite }</style><script>document.body.innerHTML = "<i>".repeat(5000)</script>',
  ],
];
