#!/usr/bin/env bash
# Package: s3cmd, 2.3.0 (as Debian 12 has it)
# Behavior: del -r s3://BUCKET/jobs/1 takes the path as the beginning of a name, not as a folder: it also deletes jobs/10 and jobs/11, without a question or --force.
# Seen: of the files in jobs/1, jobs/2, jobs/10 and jobs/11, del -r of jobs/1 left only jobs/2 and ended with 0; with a slash at the end del -r deleted only jobs/1
set -eu

command -v s3cmd >/dev/null || { echo 's3cmd is not installed: apt-get install s3cmd' >&2; exit 2; }
command -v node >/dev/null || { echo 'node is not installed' >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# A bucket on loopback that lists by prefix, as S3 does, and deletes the keys it is told.
cat >bucket.mjs <<'END'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
let keys = [];
const listing = (prefix) => `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix>${prefix}</Prefix>
<Marker></Marker><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>
${keys
  .filter((key) => key.startsWith(prefix))
  .map(
    (key) => `<Contents><Key>${key}</Key><LastModified>2026-06-01T00:00:00.000Z</LastModified>
<ETag>&quot;9dd4e461268c8034f5c8564e155c67a6&quot;</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>`,
  )
  .join('\n')}
</ListBucketResult>`;
const server = http.createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { searchParams } = new URL(request.url, 'http://localhost');
  if (request.method === 'POST' && searchParams.has('delete')) {
    const gone = [...body.matchAll(/<Key>([^<]*)</g)].map(([, key]) => key);
    keys = keys.filter((key) => !gone.includes(key));
    response.end(`<?xml version="1.0" encoding="UTF-8"?><DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
${gone.map((key) => `<Deleted><Key>${key}</Key></Deleted>`).join('\n')}</DeleteResult>`);
  } else if (request.method === 'GET') response.end(listing(searchParams.get('prefix') ?? ''));
  else response.writeHead(501).end();
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const host = `127.0.0.1:${server.address().port}`;
const options = ['--config=/dev/null', '--access_key=key', '--secret_key=secret', '--no-ssl', `--host=${host}`, `--host-bucket=${host}`];
for (const command of ['del -r s3://bucket/jobs/1', 'del -r s3://bucket/jobs/1/']) {
  keys = ['jobs/1/in.csv', 'jobs/10/in.csv', 'jobs/11/in.csv', 'jobs/2/in.csv'];
  const s3cmd = spawn('s3cmd', [...options, ...command.split(' ')], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(s3cmd, 'close');
  console.log(command, 'exit', code, 'left', ...keys);
}
server.close();
END
node bucket.mjs >seen.txt
cat seen.txt

cat >expected.txt <<'END'
del -r s3://bucket/jobs/1 exit 0 left jobs/2/in.csv
del -r s3://bucket/jobs/1/ exit 0 left jobs/10/in.csv jobs/11/in.csv jobs/2/in.csv
END
diff expected.txt seen.txt
