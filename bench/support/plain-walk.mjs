// The plainest client that walks a list page by page: node:http, one connection kept alive, JSON lines out.
//   node bench/support/plain-walk.mjs <url of the list>
import { Agent, get } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const [, , list = ''] = process.argv;
for (let next = ''; next !== undefined;) {
  const { data, pagination } = JSON.parse(await read(next === '' ? list : `${list}&start=${next}`));
  const text = data.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  next = pagination.next ?? undefined;
}
agent.destroy();

/** @param {string} url */
function read(url) {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    }).on('error', reject);
  });
}
