// Prints the open issues of a repository: node issues.ts acme/shop. It knows nothing of Quartermaster and has no token: run as
// `qm run -- node issues.ts acme/shop`, its request goes through the proxy, which puts in the token of the connection for api.github.com.
const [repository] = process.argv.slice(2);
const api = process.env.GITHUB_API_URL ?? 'https://api.github.com';
const answer = await fetch(`${api}/repos/${repository}/issues`);
if (!answer.ok) throw new Error(`the forge answered ${answer.status}`);
for (const { number, title } of (await answer.json()) as { number: number; title: string }[])
  console.log(`#${number} ${title}`);

export {};
