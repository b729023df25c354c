// Measures one request over TLS to a service with round trips of 50 ms, beside node:https and curl.
//   node bench/round-trips.mjs [runs]
// The programs run in a network namespace in which packets really take that long: see support/far.py. Where none is
// allowed, nothing is measured. Build first. Needs unshare, ip, python3, openssl and curl.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurns, plainEnvironment, report, rowsFrom, runNode, runProgram } from './support/measure.mjs';

const ROUND_TRIP = '50';
const [NEAR, FAR] = ['10.9.0.1', '10.9.0.2'];
const TENANT = '0b2f3c1a-5d1e-4c53-9d3e-000000000001';
const GET = "require('node:https').get(process.argv[1], (response) => response.resume())";

const self = fileURLToPath(import.meta.url);
const launcher = fileURLToPath(new URL('../bin/svc.js', import.meta.url));
const far = fileURLToPath(new URL('support/far.py', import.meta.url));
const namespace = ['--user', '--map-root-user', '--net', 'python3', far, ROUND_TRIP];

const [first = '9', inner] = process.argv.slice(2);
if (first === 'inside') process.stdout.write(JSON.stringify(await measure(Number(inner))));
else if (spawnSync('unshare', [...namespace, 'true']).status === 0) reportFromInside(first);
else process.stdout.write('one request over TLS: skipped, since no program can have a network of its own here\n');

/** Runs this file again in a namespace, and reports what it measured. */
function reportFromInside(runs) {
  const taken = JSON.parse(execFileSync('unshare', [...namespace, process.execPath, self, 'inside', runs]));
  const title = `one request over TLS, round trips of ${ROUND_TRIP} ms, ${runs} runs in turns`;
  report('round-trips', title, rowsFrom(taken, rowsOf));
}

function rowsOf(taken) {
  const rows = Object.entries(taken).map(([name, { ms }]) => ({ name, figure: ms, unit: 'ms' }));
  const over = taken['svc tenant show'].ms - taken['node:https'].ms;
  return [...rows, { name: 'svc over node:https', figure: over, unit: 'ms' }];
}

async function measure(runs) {
  const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const { key, cert, file } = makeCertificate(home);
  const server = createServer({ key, cert }, (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(`{"id":"${TENANT}","owner_id":"${TENANT}","type":"test","name":"Bench","settings":{}}`);
  });
  try {
    await once(server.listen(443, NEAR), 'listening');
    const url = `https://${FAR}`;
    const settings = { SVC_BASE_URL: url, SVC_MANAGEMENT_API_KEY: 'a-management-key' };
    const env = { ...plainEnvironment(home), ...settings, NODE_EXTRA_CA_CERTS: file };
    const programs = {
      curl: () => runProgram('curl', ['-sS', '--cacert', file, url], env),
      'node:https': () => runNode(['-e', GET, url], env),
      'svc tenant show': () => runNode([launcher, 'tenant', 'show'], env),
    };
    // The first run warms the machine's caches.
    await inTurns(1, programs);
    return await inTurns(runs, programs);
  } finally {
    server.close();
    server.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  }
}

function makeCertificate(directory) {
  const [keyFile, file] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=far'];
  const out = ['-addext', `subjectAltName=IP:${FAR}`, '-keyout', keyFile, '-out', file];
  execFileSync('openssl', ['req', '-x509', ...kind, ...out], { stdio: 'ignore' });
  return { key: readFileSync(keyFile), cert: readFileSync(file), file };
}
