#!/usr/bin/env bash
# Package: nginx, 1.22.1 (as Debian 12 has it), in front of the HTTP server of Node 20.20.2
# Behavior: When the application fails while it streams a response of unknown length, a direct client gets an error, but through proxy_pass the client gets a complete 200 with the rows so far: nginx asks in HTTP/1.0, where the end of the connection is the end of the body, and writes the closing chunk itself.
# Seen: of a response that broke after 100 rows, fetch directly failed with "terminated", through nginx it returned 200 and 100 rows, and with proxy_http_version 1.1 it failed again
set -eu

command -v nginx >/dev/null || { echo 'nginx is not installed: apt-get install nginx-light' >&2; exit 2; }
command -v node >/dev/null || { echo 'node is not installed' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

cat >proxy.mjs <<'END'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
// The application sends 100 rows of an export, and then its connection is cut.
const application = http.createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/csv' });
  response.write('card,06\n'.repeat(100), () => setTimeout(() => response.destroy(), 300));
});
await once(application.listen(0, '127.0.0.1'), 'listening');
const direct = application.address().port;
const freePort = async () => {
  const server = net.createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
};
const [asIs, newer] = [await freePort(), await freePort()];
const here = process.cwd();
const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${here}/${name};`);
writeFileSync(
  'nginx.conf',
  `daemon off; pid ${here}/pid; events {} http { access_log off; ${folders.join(' ')}
server { listen 127.0.0.1:${asIs}; location / { proxy_pass http://127.0.0.1:${direct}; } }
server { listen 127.0.0.1:${newer}; location / { proxy_pass http://127.0.0.1:${direct}; proxy_http_version 1.1; } } }`,
);
const nginx = spawn('nginx', ['-e', `${here}/error.log`, '-c', `${here}/nginx.conf`], { stdio: 'inherit' });
process.on('exit', () => nginx.kill());
const answers = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(socket.end() && true));
    socket.on('error', () => resolve(false));
  });
for (let tries = 0; tries < 100 && !(await answers(newer)); tries += 1) await sleep(100);
for (const [name, port] of [
  ['direct', direct],
  ['nginx', asIs],
  ['nginx with proxy_http_version 1.1', newer],
]) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    console.log(`${name}: status ${response.status}, rows ${(await response.text()).split('\n').length - 1}`);
  } catch (error) {
    console.log(`${name}: ${error.message}`);
  }
}
nginx.kill();
await once(nginx, 'close');
application.close();
END
node proxy.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
direct: terminated
nginx: status 200, rows 100
nginx with proxy_http_version 1.1: terminated
END
diff expected.txt seen.txt
