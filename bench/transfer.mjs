// Upload and download of a large file beside curl, over loopback.
//   node bench/transfer.mjs [megabytes] [runs]
// Node 20 runs no TypeScript, so the transfers are bundled into a temporary directory first. Each measurement is a
// process of its own and pays its own start; runs are interleaved and the median counts. Needs curl.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const megabytes = Number(process.argv[2] ?? 300);
const runs = Number(process.argv[3] ?? 5);
const piece = Buffer.alloc(1024 * 1024, 'a line of a request file\n');
const size = Math.floor((megabytes * 1e6) / piece.length) * piece.length;
const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const file = join(directory, 'file');
const target = join(directory, 'target');

const CHILD = `
import { systemClock, createTransport, uploadFile, fileSource, downloadFile } from './transfer.mjs';
const [kind, address, file, target] = process.argv.slice(2);
const transport = createTransport();
const url = new URL(address);
const clock = systemClock;
const host = { pid: process.pid, isAlive: () => false, clock, signal: new AbortController().signal };
if (kind === 'put') await uploadFile({ transport, clock, url, source: await fileSource(file) });
else await downloadFile({ transport, clock, host, address: async () => url, target, overwrite: true });
await transport.close();
console.log(process.resourceUsage().maxRSS);
`;

try {
  await bundle();
  const output = openSync(file, 'w');
  for (let at = 0; at < size; at += piece.length) writeSync(output, piece);
  closeSync(output);
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await measure(`http://127.0.0.1:${server.address().port}/`);
  server.close();
  server.closeAllConnections();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function bundle() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const entry = join(directory, 'entry.ts');
  const names = ['clock', 'http/transport', 'transfer/upload', 'transfer/source', 'transfer/download'];
  writeFileSync(
    entry,
    names.map((name) => `export * from ${JSON.stringify(join(root, `src/${name}.ts`))};`).join('\n'),
  );
  const build = await rolldown({ input: entry, platform: 'node', cwd: root, logLevel: 'silent' });
  await build.write({ file: join(directory, 'transfer.mjs'), format: 'esm', codeSplitting: false });
  await build.close();
  writeFileSync(join(directory, 'child.mjs'), CHILD);
}

function serve(request, response) {
  if (request.method === 'PUT') return request.resume().on('end', () => response.end());
  response.writeHead(200, { 'content-length': size, etag: '"0123456789abcdef0123456789abcdef"' });
  let at = 0;
  const send = () => {
    while (at < size) {
      at += piece.length;
      if (!response.write(piece)) return response.once('drain', send);
    }
    response.end();
  };
  send();
}

async function measure(address) {
  const svc = [process.execPath, join(directory, 'child.mjs')];
  const commands = {
    'put curl': ['curl', '-sS', '-f', '-T', file, address],
    'put svc': [...svc, 'put', address, file],
    'get curl': ['curl', '-sS', '-f', '-o', target, address],
    'get svc': [...svc, 'get', address, file, target],
    'start alone': [process.execPath, '-e', '0'],
  };
  const times = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  const memory = {};
  for (let run = 0; run < runs; run += 1)
    for (const [name, [program, ...args]] of Object.entries(commands)) {
      rmSync(target, { force: true });
      const started = performance.now();
      const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const said = child.stdout.setEncoding('utf8').toArray();
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`${name} ended with ${code}`);
      times[name].push(performance.now() - started);
      memory[name] = Number((await said).join('')) / 1024;
    }
  const median = (name) => times[name].toSorted((a, b) => a - b)[Math.floor(runs / 2)];
  for (const name of Object.keys(commands)) {
    const peer = median(`${name.slice(0, 3)} curl` in times ? `${name.slice(0, 3)} curl` : name);
    const rss = memory[name] > 0 ? `  ${memory[name].toFixed(0)} MiB` : '';
    console.log(
      `${name.padEnd(12)} ${median(name).toFixed(0).padStart(6)} ms  ${(median(name) / peer).toFixed(2)}${rss}`,
    );
  }
}
