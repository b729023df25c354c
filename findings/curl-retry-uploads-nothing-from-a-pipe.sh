#!/usr/bin/env bash
# Package: curl, 7.88.1 (as Debian 12 has it)
# Behavior: An upload from standard input (-T -) that --retry repeats sends an empty body the second time, and ends with 0: what was stored is empty.
# Seen: after a 503, curl --fail --retry 1 -T - sent 108 bytes and then 0 bytes from a pipe and from a file that the shell opened, and exited with 0; with -T FILE it sent 108 bytes twice
set -eu

command -v curl >/dev/null || { echo 'curl is not installed: apt-get install curl' >&2; exit 2; }
command -v node >/dev/null || { echo 'node is not installed' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

printf 'token,expiration_year,expiration_month,merchant_id\n00000000-0000-4000-8000-000000000001,27,06,SANDBOX_STORE\n' >in.csv

cat >store.mjs <<'END'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
const seen = {};
// Each address answers 503 once, and stores what it gets the second time.
const server = http.createServer(async (request, response) => {
  let bytes = 0;
  for await (const chunk of request) bytes += chunk.length;
  const sizes = (seen[request.url] ??= []);
  sizes.push(bytes);
  response.writeHead(sizes.length === 1 ? 503 : 200).end();
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const curl = 'curl --silent --fail --retry 1 --noproxy "*"';
const address = `http://127.0.0.1:${server.address().port}`;
for (const [name, command] of [
  ['pipe', `cat in.csv | ${curl} -T - ${address}/pipe`],
  ['stdin', `${curl} -T - ${address}/stdin <in.csv`],
  ['file', `${curl} -T in.csv ${address}/file`],
]) {
  const [code] = await once(spawn('sh', ['-c', command], { stdio: 'inherit' }), 'close');
  console.log(name, ...seen[`/${name}`], 'exit', code);
}
server.close();
END
node store.mjs >seen.txt
cat seen.txt

size=$(wc -c <in.csv | tr -d ' ')
printf 'pipe %s 0 exit 0\nstdin %s 0 exit 0\nfile %s %s exit 0\n' "$size" "$size" "$size" "$size" >expected.txt
diff expected.txt seen.txt
