// Measures upload and download of a large file beside curl, over loopback.
//   npm run bench transfer [megabytes] [runs]
// The transfers alone, without the command around them, are built into a temporary directory as the tool is built, and
// run with the V8 flags that it sets. Each measurement runs in a separate process. Runs are interleaved. The first ratio subtracts the start of bare Node, but includes the loading of the client. The second ratio,
// `for the bytes`, subtracts a transfer of a single byte, for both programs. svc hashes all bytes and curl none:
// SHA-256 takes 0.7 ms a MB, and the MD5 of a download 1.5. svc syncs a download to the disk and curl does not: set
// TMPDIR to a file system in memory to exclude the disk. Needs curl and bash.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { loadConfig } from 'rolldown/config';
import { inTurns, plainEnvironment, report, rowsFrom, runNode, runProgram, WITH_FLAGS } from './support/measure.mjs';

const megabytes = Number(process.argv[2] ?? 30);
const runs = Number(process.argv[3] ?? 15);
const piece = Buffer.alloc(1024 * 1024, 'a line of a request file\n');
const size = Math.floor((megabytes * 1e6) / piece.length) * piece.length;
const etag = createHash('md5').update(Buffer.alloc(size, piece)).digest('hex');
const root = fileURLToPath(new URL('..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const file = join(directory, 'file');
const byte = join(directory, 'byte');
const target = join(directory, 'target');

// Runs a program that cannot report its processor time, and writes that time to file descriptor 3.
const TIMED = 'TIMEFORMAT="0 %U %S"; { time "$@" 2>&4; } 4>&2 2>&3';

const from = (module) => JSON.stringify(join(root, `src/${module}.ts`));
const CHILD = `
import { systemClock as clock } from ${from('base/system')};
import { createTransport } from ${from('client/http/transport')};
const [kind, address, file] = process.argv.slice(2);
const url = new URL(address);
const transport = createTransport();
const host = { pid: process.pid, isAlive: () => false };
const done = kind === 'put' ? put() : get();
void done.then(() => transport.close());
async function put() {
  const { uploadFile } = await import(${from('client/transfer/upload')});
  const { fileSource } = await import(${from('client/transfer/source')});
  await uploadFile({ transport, clock, url, source: await fileSource(file) });
}
async function get() {
  const { downloadFile } = await import(${from('client/transfer/download')});
  await downloadFile({ transport, clock, host, address: async () => url, target: file, overwrite: true });
}
`;

try {
  await bundle();
  const output = openSync(file, 'w');
  for (let at = 0; at < size; at += piece.length) writeSync(output, piece);
  closeSync(output);
  writeFileSync(byte, 'a');
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await measure(`http://127.0.0.1:${server.address().port}/`);
  server.close();
  server.closeAllConnections();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function bundle() {
  const entry = join(directory, 'entry.ts');
  writeFileSync(entry, CHILD);
  const [{ output, ...input }] = await loadConfig(join(root, 'build/rolldown.config.ts'));
  // The tool itself is built too, because the build fails unless each module alias matches an import.
  const inputs = { svc: entry, tool: join(root, 'src/process.ts') };
  const build = await rolldown({ ...input, input: inputs, cwd: root, logLevel: 'silent' });
  // The groups are those of the tool: here they would need the entry before it has run.
  const codeSplitting = { ...output.codeSplitting, groups: [] };
  await build.write({ ...output, codeSplitting, dir: join(directory, 'built') });
  await build.close();
}

function serve(request, response) {
  if (request.method === 'PUT') return request.resume().on('end', () => response.end());
  if (request.url === '/byte') return response.end('a');
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
  const env = plainEnvironment(directory);
  const child = [...WITH_FLAGS, join(directory, 'built/svc.cjs')];
  const svc = (kind, path, name) => runNode([...child, kind, address + path, name], env);
  const curl = (path, ...args) =>
    runProgram('bash', ['-c', TIMED, 'bash', 'curl', '-sS', '-f', ...args, address + path], env);
  const commands = {
    'PUT, curl': () => curl('', '-T', file),
    'PUT, curl, a byte': () => curl('byte', '-T', byte),
    'PUT, svc': () => svc('put', '', file),
    'PUT, svc, a byte': () => svc('put', 'byte', byte),
    'GET, curl': () => curl('', '-o', target),
    'GET, curl, a byte': () => curl('byte', '-o', target),
    'GET, svc': () => svc('get', '', target),
    'GET, svc, a byte': () => svc('get', 'byte', target),
    'bare start': () => runNode(['-e', '0'], env),
  };
  const programs = Object.entries(commands).map(([name, command]) => [
    name,
    () => {
      rmSync(target, { force: true });
      return command();
    },
  ]);
  const taken = await inTurns(runs, Object.fromEntries(programs));
  report('transfer', `${megabytes} MB over loopback, ${runs} runs in turns`, rowsFrom(taken, rowsOf));
}

function rowsOf(taken) {
  const kinds = ['PUT', 'GET'];
  return [
    ...kinds.flatMap((kind) => compared(kind, '', (name) => taken[name].ms)),
    ...kinds.flatMap((kind) => compared(kind, ': processor time', (name) => taken[name].busy)),
    ...kinds.map((kind) => ({ name: `${kind}, svc: memory`, figure: taken[`${kind}, svc`].mb, unit: 'MB' })),
  ];
}

function compared(kind, what, of) {
  const curl = of(`${kind}, curl`);
  const svc = of(`${kind}, svc`) - of('bare start');
  const bytes = (program) => of(`${kind}, ${program}`) - of(`${kind}, ${program}, a byte`);
  const unit = 'times as long';
  return [
    { name: `${kind}, curl${what}`, figure: curl, unit: 'ms' },
    { name: `${kind}, svc${what}`, figure: svc, unit: 'ms' },
    { name: `${kind} over curl${what}`, figure: svc / curl, unit },
    { name: `${kind} over curl${what} for the bytes`, figure: bytes('svc') / bytes('curl'), unit },
  ];
}
