import type { S3Settings } from './settings.ts';

/** Parameters of a query by name. */
export type S3Query = Readonly<Record<string, string>>;

/**
 * The address of an object, or with an empty key that of the bucket. The bucket stands in the host at the first maker
 * of such stores, in the path everywhere else and where its name has dots, which no certificate covers.
 */
export function objectAddress(
  { endpoint, region }: Pick<S3Settings, 'endpoint' | 'region'>,
  bucket: string,
  key: string,
  query: S3Query = {},
): URL {
  const isInHost = endpoint === undefined && !bucket.includes('.');
  const domain = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const base = endpoint?.href.replace(/\/+$/, '') ?? `https://${isInHost ? `${bucket}.` : ''}${domain}`;
  const path = `${isInHost ? '' : `/${encoded(bucket)}`}/${key.split('/').map(encoded).join('/')}`;
  // Not by URLSearchParams: its plus sign for a space is read as a plus by some.
  const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return new URL(
    base +
      (key === '' && !isInHost ? path.slice(0, -1) : path) +
      (pairs.length > 0 ? `?${pairs.join('&')}` : ''),
  );
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
