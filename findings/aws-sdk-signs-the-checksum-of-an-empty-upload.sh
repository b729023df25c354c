#!/usr/bin/env bash
# Package: @aws-sdk/s3-request-presigner, 3.1169.0, with @aws-sdk/client-s3 3.1175.0
# Behavior: An upload address made without a body says by default that the CRC32 of what will be uploaded is AAAAAA==, the checksum of no bytes at all. A store that compares it refuses each real file, although the address is in order; requestChecksumCalculation WHEN_REQUIRED leaves it out.
# Seen: getSignedUrl of a PutObjectCommand had x-amz-checksum-crc32=AAAAAA%3D%3D and x-amz-sdk-checksum-algorithm=CRC32 in its query
set -eu

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm install --prefix . --no-save --no-package-lock --ignore-scripts --silent --no-audit --no-fund @aws-sdk/client-s3@3.1175.0 @aws-sdk/s3-request-presigner@3.1169.0

cat >sign.mjs <<'END'
import { crc32 } from 'node:zlib';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
async function checksumIn(options) {
  const client = new S3Client({ region: 'eu-central-1', credentials, ...options });
  const address = await getSignedUrl(client, new PutObjectCommand({ Bucket: 'files', Key: 'tokens.csv' }));
  const sent = new URL(address).searchParams;
  return `${sent.get('x-amz-sdk-checksum-algorithm')} ${sent.get('x-amz-checksum-crc32')}`;
}
console.log('by default:', await checksumIn({}));
console.log('when required:', await checksumIn({ requestChecksumCalculation: 'WHEN_REQUIRED' }));
const empty = Buffer.alloc(4);
empty.writeUInt32BE(crc32 === undefined ? 0 : crc32(''));
console.log('of no bytes:', empty.toString('base64'));
END
node --no-warnings sign.mjs >seen.txt
cat seen.txt

printf 'by default: CRC32 AAAAAA==\nwhen required: null null\nof no bytes: AAAAAA==\n' >expected.txt
diff expected.txt seen.txt
