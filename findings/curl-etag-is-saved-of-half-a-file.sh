#!/usr/bin/env bash
# Package: curl, 7.88.1 (as Debian 12 has it)
# Behavior: --etag-save writes the ETag when the headers come, not when the body is complete: after a cut transfer, the next run with --etag-compare gets 304, ends with 0, and leaves the half file in place.
# Seen: the first run exited with 18 and 400 of 1000 bytes; the second run sent the new ETag, got 304, exited with 0, and the file still had 400 bytes
set -eu

command -v curl >/dev/null || { echo 'curl is not installed: apt-get install curl' >&2; exit 2; }
command -v node >/dev/null || { echo 'node is not installed' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

cat >server.mjs <<'END'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import http from 'node:http';
const answers = [];
// The connection of the first response breaks after 400 of 1000 bytes; later responses are whole.
const server = http.createServer((request, response) => {
  const isCurrent = request.headers['if-none-match'] === '"version-1"';
  answers.push(isCurrent ? 304 : 200);
  response.writeHead(isCurrent ? 304 : 200, { etag: '"version-1"', ...(!isCurrent && { 'content-length': 1000 }) });
  if (isCurrent) response.end();
  else if (answers.length > 1) response.end('x'.repeat(1000));
  else response.write('x'.repeat(400), () => setTimeout(() => response.destroy(), 300));
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const options = '--silent --fail --noproxy * --etag-compare etag.txt --etag-save etag.txt -o result.csv';
for (const run of ['first', 'second']) {
  const argv = [...options.split(' '), `http://127.0.0.1:${server.address().port}/`];
  const [code] = await once(spawn('curl', argv), 'close');
  console.log(run, 'status', answers.at(-1), 'exit', code, 'bytes', statSync('result.csv').size);
}
server.close();
END
node server.mjs >seen.txt
cat seen.txt

printf 'first status 200 exit 18 bytes 400\nsecond status 304 exit 0 bytes 400\n' >expected.txt
diff expected.txt seen.txt
