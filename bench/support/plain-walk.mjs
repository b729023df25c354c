// The plainest client that walks a list page by page: node:http, one connection kept alive, JSON lines out.
//   node bench/support/plain-walk.mjs <url of the list> [<module of checks> <name of a check>]
import { Agent, get } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const [, , list = '', module, name] = process.argv;
const check = module === undefined ? (_, page) => linesOf(page) : (await import(module)).CHECKS[name];
for (let next = ''; next !== undefined;) {
  const text = await read(next === '' ? list : `${list}&start=${next}`);
  const page = JSON.parse(text);
  const lines = check(text, page, linesOf);
  if (!process.stdout.write(lines)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  next = page.pagination.next ?? undefined;
}
agent.destroy();

function linesOf({ data }) {
  return data.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

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
