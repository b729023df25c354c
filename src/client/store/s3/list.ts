// Lists and finds the objects of a bucket.

import { SvcError } from '../../../base/errors.ts';
import { decodedUri } from '../../../schema/address.ts';
import { elements, elementText } from '../../transfer/xml.ts';
import type { StoredFile } from '../store.ts';
import type { S3Requests } from './requests.ts';

const MAX_PAGE = 16 * 1024 * 1024;

/** Lists the objects whose path begins with `prefix` (ListObjectsV2); with `after`, only later paths. */
export async function* listObjects(requests: S3Requests, prefix: string, after?: string): AsyncGenerator<StoredFile> {
  const { location } = requests;
  const start = after === undefined ? {} : { 'start-after': location.prefix + after };
  for await (const { objects } of listPages(requests, { prefix: location.prefix + prefix, ...start }))
    for (const { key, ...facts } of objects)
      if (key.startsWith(location.prefix)) yield { path: key.slice(location.prefix.length), ...facts };
}

/** Finds an object by its path. One that the list lacks is asked for: a list may show an object later than a read does. */
export async function findObject(requests: S3Requests, path: string): Promise<StoredFile | undefined> {
  for await (const found of listObjects(requests, path)) if (found.path === path) return found;
  const request = { method: 'HEAD', action: 's3:GetObject', path, handled: [403, 404] } as const;
  const { response, refusal } = await requests.send(request);
  if (refusal !== undefined) return undefined;
  const bytes = Number(response.header('content-length') ?? Number.NaN);
  if (!Number.isSafeInteger(bytes)) throw unexpected(requests, `does not say how large ${path} is`);
  return { path, bytes };
}

/** Lists the names directly below the location. The names of folders end with a slash. */
export async function listNames(requests: S3Requests): Promise<string[]> {
  const { prefix } = requests.location;
  const keys: string[] = [];
  for await (const { objects, folders } of listPages(requests, { prefix, delimiter: '/' }))
    keys.push(...objects.map(({ key }) => key), ...folders);
  const paths = keys.filter((key) => key.startsWith(prefix) && key !== prefix).map((key) => key.slice(prefix.length));
  // A store that ignores the delimiter lists all objects.
  return [...new Set(paths.map((path) => /^[^/]*\/?/.exec(path)?.[0] ?? path))].toSorted();
}

/** Yields all pages of a list. @throws SvcError `bad_response` for a page that is malformed or repeated */
async function* listPages(requests: S3Requests, range: Readonly<Record<string, string>>) {
  // The first key and the token of each page: a list that repeats a page would never end.
  const seen = new Set<string>();
  let token: string | undefined;
  for (;;) {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      ...range,
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const request = { method: 'GET', action: 's3:ListBucket', path: '', query, bodyLimit: MAX_PAGE } as const;
    const { body } = await requests.send(request);
    if (!body?.complete) throw unexpected(requests, 'sends a list larger than it should be');
    const page = readPage(requests, body.bytes.toString('utf8'));
    const [first] = page.objects;
    for (const mark of [...(first ? [`key ${first.key}`] : []), `token ${page.next ?? 'none'}`]) {
      if (seen.has(mark)) throw unexpected(requests, 'repeats a page of its list');
      seen.add(mark);
    }
    yield page;
    if (page.next === undefined) return;
    token = page.next;
  }
}

/** Returns the objects and folders of a page, and the token of the next page. @throws SvcError `bad_response` */
function readPage(requests: S3Requests, xml: string) {
  const [list] = elements(xml, 'ListBucketResult');
  if (list === undefined) throw unexpected(requests, 'does not return a list');
  const isEncoded = elementText(list, 'EncodingType') === 'url';
  const decoded = (key = ''): string => (isEncoded ? (decodedUri(key.replaceAll('+', ' ')) ?? key) : key);
  const folders = elements(list, 'CommonPrefixes').map((folder) => decoded(elementText(folder, 'Prefix')));
  const objects = elements(list, 'Contents').map((contents) => {
    const changedAt = Date.parse(elementText(contents, 'LastModified') ?? '');
    return {
      key: decoded(elementText(contents, 'Key')),
      bytes: Number(elementText(contents, 'Size') ?? Number.NaN),
      changedAt: Number.isNaN(changedAt) ? undefined : changedAt,
    };
  });
  if (objects.some(({ key, bytes }) => key === '' || !Number.isSafeInteger(bytes)))
    throw unexpected(requests, 'lists an object without a key or a size');
  if (elementText(list, 'IsTruncated')?.toLowerCase() !== 'true') return { objects, folders, next: undefined };
  const next = elementText(list, 'NextContinuationToken');
  if (next === undefined) throw unexpected(requests, 'does not say how its list continues');
  return { objects, folders, next };
}

function unexpected({ location }: S3Requests, problem: string): SvcError {
  return new SvcError('bad_response', `${location.name}: the store ${problem}`, {
    hint: 'Check that AWS_ENDPOINT_URL_S3 is an S3-compatible store.',
  });
}
