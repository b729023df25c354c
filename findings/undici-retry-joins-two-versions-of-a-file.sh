#!/usr/bin/env bash
# Package: undici, 7.30.2 (RetryAgent)
# Behavior: A GET that breaks off is resumed with a range. When the file changed meanwhile, a strong ETag makes that an error, but without an ETag, and with a weak one, the body is the first part of the old file and the rest of the new one, and no error is raised.
# Seen: of a file of 1000 letters that changed from a to b after 400 of them, the body had 400 a and 600 b with status 200, without an ETag and with W/"1" and then W/"2"; with "1" and then "2" the error was "ETag mismatch"
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund undici@7.30.2

cat >download.mjs <<'END'
import { createServer } from 'node:http';
import { Agent, request, RetryAgent } from 'undici';

async function download(...etags) {
  let requests = 0;
  const server = createServer((incoming, outgoing) => {
    const etag = etags[requests];
    requests += 1;
    const headers = etag === undefined ? {} : { etag };
    if (requests === 1) {
      outgoing.writeHead(200, { ...headers, 'content-length': 1000 });
      outgoing.write('a'.repeat(400), () => setTimeout(() => outgoing.destroy(), 50));
    } else {
      const from = Number(/\d+/.exec(incoming.headers.range)[0]);
      outgoing.writeHead(206, { ...headers, 'content-range': `bytes ${from}-999/1000`, 'content-length': 1000 - from });
      outgoing.end('b'.repeat(1000 - from));
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const dispatcher = new RetryAgent(new Agent(), { minTimeout: 10 });
    const { statusCode, body } = await request(`http://127.0.0.1:${server.address().port}/`, { dispatcher });
    const text = await body.text();
    return `${statusCode} ${text.lastIndexOf('a') + 1} a, ${text.length - text.indexOf('b')} b`;
  } catch (error) {
    return error.message;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

console.log('no ETag:', await download());
console.log('weak ETags:', await download('W/"1"', 'W/"2"'));
console.log('strong ETags:', await download('"1"', '"2"'));
END
node download.mjs >seen.txt
cat seen.txt

printf 'no ETag: 200 400 a, 600 b\nweak ETags: 200 400 a, 600 b\nstrong ETags: ETag mismatch\n' >expected.txt
diff expected.txt seen.txt
