// Upload and download of a large file beside curl, over loopback.
//   node bench/transfer.mjs [megabytes] [runs]
// Node 20 runs no TypeScript, so the transfers are bundled into a temporary directory first. Each measurement is a
// process of its own; the start of bare Node is taken off, runs are interleaved and the median counts. Needs curl and bash. A download is synced to
// the disk, which curl leaves out: set TMPDIR to a file system in memory to leave the disk out of it.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { median, plainEnvironment, report, runNode, runProgram } from './support/measure.mjs';

const megabytes = Number(process.argv[2] ?? 30);
const runs = Number(process.argv[3] ?? 15);
const piece = Buffer.alloc(1024 * 1024, 'a line of a request file\n');
const size = Math.floor((megabytes * 1e6) / piece.length) * piece.length;
const etag = createHash('md5').update(Buffer.alloc(size, piece)).digest('hex');
const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const file = join(directory, 'file');
const target = join(directory, 'target');

// Processor time of a program that cannot tell it, on file descriptor 3.
const TIMED = 'TIMEFORMAT="0 %U %S"; { time "$@" 2>&4; } 4>&2 2>&3';

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
  const names = ['system', 'http/transport', 'transfer/upload', 'transfer/source', 'transfer/download'];
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
  response.writeHead(200, { 'content-length': size, etag: `"${etag}"` });
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
  const curl = (...args) => runProgram('bash', ['-c', TIMED, 'bash', 'curl', '-sS', '-f', ...args, address], env);
  const commands = {
    'PUT, curl': () => curl('-T', file),
    'PUT, svc': () => runNode([child, 'put', address, file], env),
    'GET, curl': () => curl('-o', target),
    'GET, svc': () => runNode([child, 'get', address, file, target], env),
    'bare start': () => runNode(['-e', '0'], env),
  };
  const taken = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  for (let run = 0; run < runs; run += 1)
    for (const [name, command] of Object.entries(commands)) {
      rmSync(target, { force: true });
      taken[name].push(await command());
    }
  const time = (name, of) => median(taken[name].map((run) => run[of]));
  const rows = [];
  for (const [of, what] of [
    ['ms', 'time'],
    ['busy', 'processor time'],
  ])
    for (const kind of ['PUT', 'GET']) {
      const [own, other] = [time(`${kind}, svc`, of) - time('bare start', of), time(`${kind}, curl`, of)];
      rows.push({ name: `${kind}, curl: ${what}`, figure: other, unit: 'ms' });
      rows.push({ name: `${kind}, svc: ${what}`, figure: own, unit: 'ms' });
      const goal = of === 'ms' ? { goal: 1.5 } : {};
      rows.push({ name: `${kind} over curl: ${what}`, figure: own / other, unit: 'times as long', ...goal });
    }
  for (const kind of ['PUT', 'GET'])
    rows.push({ name: `${kind}, svc: memory`, figure: time(`${kind}, svc`, 'mb'), unit: 'MB' });
  report(`${megabytes} MB over loopback, median of ${runs} runs`, rows);
}
