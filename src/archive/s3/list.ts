import { SvcError } from '../../errors.ts';
import type { StoredFile } from '../store.ts';
import { wholeText } from './answer.ts';
import type { S3Requests } from './requests.ts';
import { elements, elementText } from './xml.ts';

const MAX_PAGE = 16 * 1024 * 1024;

/** The objects below the place whose path begins with `prefix`, page by page (ListObjectsV2). */
export async function* listObjects(requests: S3Requests, prefix: string): AsyncGenerator<StoredFile> {
  const { place } = requests;
  let token: string | undefined;
  for (;;) {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      prefix: place.prefix + prefix,
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const { answer } = await requests.send({ method: 'GET', action: 's3:ListBucket', path: '', query });
    const page = readPage(requests, await wholeText(place, answer, MAX_PAGE));
    for (const { key, bytes } of page.objects) {
      if (key.startsWith(place.prefix)) yield { path: key.slice(place.prefix.length), bytes };
    }
    if (page.next === undefined) return;
    if (page.next === token) throw senseless(requests, 'gives the same page again and again');
    token = page.next;
  }
}

interface Page {
  readonly objects: readonly { readonly key: string; readonly bytes: number }[];
  readonly next: string | undefined;
}

function readPage(requests: S3Requests, xml: string): Page {
  const [list] = elements(xml, 'ListBucketResult');
  if (list === undefined) throw senseless(requests, 'does not answer with a list');
  const isEncoded = elementText(list, 'EncodingType') === 'url';
  const objects = elements(list, 'Contents').map((contents) => {
    const key = elementText(contents, 'Key') ?? '';
    return {
      key: isEncoded ? decoded(key) : key,
      bytes: Number(elementText(contents, 'Size') ?? Number.NaN),
    };
  });
  if (objects.some(({ key, bytes }) => key === '' || !Number.isSafeInteger(bytes)))
    throw senseless(requests, 'lists an object without a key or a size');
  const isMore = elementText(list, 'IsTruncated')?.toLowerCase() === 'true';
  const next = elementText(list, 'NextContinuationToken');
  if (isMore && next === undefined) throw senseless(requests, 'does not say how its list goes on');
  return { objects, next: isMore ? next : undefined };
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return key;
  }
}

function senseless({ place }: S3Requests, what: string): SvcError {
  return new SvcError('bad_answer', `${place.name}: the store ${what}`, {
    hint: 'Check that AWS_ENDPOINT_URL_S3 is a store of the S3 kind.',
  });
}
