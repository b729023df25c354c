#!/usr/bin/env bash
# Package: aws4fetch, 1.0.20
# Behavior: AwsClient.fetch repeats each request that is answered with 429 or 5xx, up to ten times and a POST too: a service that did the work and then failed does it again.
# Seen: a server that created a job for each POST and answered 503 twice had 3 jobs after one call, which returned 201; with retries: 0 it had 1, and the call returned 503
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund aws4fetch@1.0.20

cat >create.mjs <<'END'
import { createServer } from 'node:http';
import { AwsClient } from 'aws4fetch';
async function create(options) {
  let jobs = 0;
  const server = createServer((incoming, outgoing) => {
    jobs += 1;
    outgoing.writeHead(jobs < 3 ? 503 : 201).end();
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const keys = { accessKeyId: 'id', secretAccessKey: 'secret', service: 'execute-api', region: 'eu-central-1' };
  const client = new AwsClient({ ...keys, initRetryMs: 1, ...options });
  const { status } = await client.fetch(`http://127.0.0.1:${server.address().port}/jobs`, { method: 'POST' });
  server.closeAllConnections();
  server.close();
  return `${status}, ${jobs} created`;
}
console.log('by default:', await create({}));
console.log('retries 0:', await create({ retries: 0 }));
END
node create.mjs >seen.txt
cat seen.txt

printf 'by default: 201, 3 created\nretries 0: 503, 1 created\n' >expected.txt
diff expected.txt seen.txt
