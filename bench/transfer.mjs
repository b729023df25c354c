// Upload and download of a large file beside curl, over loopback.
//   node bench/transfer.mjs [megabytes] [runs]
// Node 20 runs no TypeScript, so the transfers are bundled into a temporary directory first. Each measurement is a
// process of its own and pays its own start; runs are interleaved and the median counts. Needs curl. A download is synced to
// the disk, which curl leaves out: set TMPDIR to a file system in memory to leave the disk out of it.
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { median, plainEnvironment, report, runNode, runProgram } from './support/measure.mjs';

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
  const child = join(directory, 'child.mjs');
  const env = plainEnvironment(directory);
  const commands = {
    'PUT, curl': () => runProgram('curl', ['-sS', '-f', '-T', file, address], env),
    'PUT, svc': () => runNode([child, 'put', address, file], env),
    'GET, curl': () => runProgram('curl', ['-sS', '-f', '-o', target, address], env),
    'GET, svc': () => runNode([child, 'get', address, file, target], env),
    'bare start': () => runNode(['-e', '0'], env),
  };
  const taken = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  for (let run = 0; run < runs; run += 1)
    for (const [name, command] of Object.entries(commands)) {
      rmSync(target, { force: true });
      taken[name].push(await command());
    }
  const time = (name) => median(taken[name].map(({ ms }) => ms));
  const rows = Object.keys(commands).map((name) => ({ name, figure: time(name), unit: 'ms' }));
  for (const kind of ['PUT', 'GET']) {
    const memory = median(taken[`${kind}, svc`].map(({ mb }) => mb));
    rows.push({ name: `${kind}: memory`, figure: memory, unit: 'MB' });
    rows.push({
      name: `${kind} over curl`,
      figure: time(`${kind}, svc`) / time(`${kind}, curl`),
      unit: 'times as long',
      goal: 1.5,
    });
  }
  report(`${megabytes} MB over loopback, median of ${runs} runs`, rows);
}
