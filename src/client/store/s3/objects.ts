import { SvcError } from '../../../base/errors.ts';
import { createTransport } from '../../http/transport.ts';
import { describeStoreError } from '../../transfer/store.ts';
import { foreignObject, type ObjectStore, type ObjectStoreOptions, readOnlyPlace } from '../objects.ts';
import type { StoredFile, StoreHost } from '../store.ts';
import { s3Error, type S3Refusal } from './s3-error.ts';
import { listObjects } from './read.ts';
import { bytesBody, S3Requests } from './requests.ts';
import { parseBucketLocation, s3Settings } from './settings.ts';

/** How often the same bytes are sent while the store says that another write is under way. */
const ATTEMPTS = 4;

/** The pause before the next attempt, times the number of attempts so far. */
const PAUSE_MS = 250;

/** How often an object is looked for that the store confirmed: replicas may show it later. */
const LOOKS = 5;

/**
 * Objects in a bucket. Each is written under the condition that its name is free. A store that does not know the condition
 * is refused, and never used by looking first, since two machines could both find nothing.
 */
export class S3Objects implements ObjectStore {
  readonly name: string;
  isVersioned = false;
  readonly #host: Omit<StoreHost, 'bucketWork' | 'onWarning'>;
  readonly #requests: S3Requests;
  readonly #noun: string;

  /** Opens a location. @throws SvcError `usage` for a malformed location, `key_missing` and `config` for the environment */
  constructor(text: string, host: Omit<StoreHost, 'bucketWork' | 'onWarning'>, { noun }: ObjectStoreOptions) {
    const location = parseBucketLocation(text);
    const { env, clock, signal, trace } = host;
    this.name = location.name;
    this.#host = host;
    this.#noun = noun;
    const transport = createTransport(env);
    this.#requests = new S3Requests({ location, settings: s3Settings(env), transport, clock, signal, trace });
  }

  async create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    const body = bytesBody(bytes);
    for (let attempt = 1; ; attempt += 1) {
      const { response, refusal } = await this.#requests.send({
        method: 'PUT',
        action: 's3:PutObject',
        path: name,
        body,
        headers: { 'if-none-match': '*' },
        wanted: [403, 409, 412, 501],
      });
      this.isVersioned ||= response.header('x-amz-version-id') !== undefined;
      if (refusal === undefined) return (await this.#hasBytes(name, bytes)) ? 'created' : 'exists';
      if (refusal.status === 412) return 'exists';
      if (refusal.status === 403) throw this.#forbidden(refusal);
      if (refusal.status === 501) throw this.#withoutCondition();
      // 409 means that another write of the same name is under way, which may still fail.
      if (attempt === ATTEMPTS)
        throw new SvcError('server', `${this.name}: another write of ${name} does not end`, {
          status: 409,
          retryable: true,
        });
      await this.#host.clock.sleep(PAUSE_MS * attempt, this.#host.signal);
    }
  }

  async read(name: string, most: number): Promise<Uint8Array | undefined> {
    const { body, refusal } = await this.#requests.send({
      method: 'GET',
      action: 's3:GetObject',
      path: name,
      bodyLimit: most,
      // What another connection shows is what another machine sees.
      fresh: true,
      wanted: [404],
    });
    if (refusal !== undefined) {
      if (refusal.error.code === 'NoSuchBucket') throw s3Error(refusal);
      return undefined;
    }
    if (!body?.complete) throw foreignObject(this.name, name, `it has more than ${most} bytes`);
    return body.bytes;
  }

  list(prefix: string): AsyncIterable<StoredFile> {
    return listObjects(this.#requests, prefix);
  }

  /** Compares an object with what was just written: a store whose replicas agree later may confirm two writers. */
  async #hasBytes(name: string, bytes: Uint8Array): Promise<boolean> {
    for (let look = 1; look <= LOOKS; look += 1) {
      const found = await this.read(name, Math.max(bytes.byteLength, 64 * 1024));
      if (found !== undefined) return Buffer.compare(found, bytes) === 0;
      await this.#host.clock.sleep(PAUSE_MS * look, this.#host.signal);
    }
    throw new SvcError('server', `${this.name}: the store confirmed ${name}, and does not show it`, {
      retryable: true,
    });
  }

  /** A 403 is also the response to credentials that are wrong or have expired. */
  #forbidden(refusal: S3Refusal): SvcError {
    const error = s3Error(refusal);
    if (error.code !== 'forbidden') return error;
    return readOnlyPlace(this.name, this.#noun, error, describeStoreError(refusal.received, refusal.error));
  }

  #withoutCondition(): SvcError {
    return new SvcError(
      'config',
      `${this.name}: the store has no conditional writes, so machines cannot share a ${this.#noun} there`,
      { hint: 'Use a store that honors If-None-Match, or a directory that all machines see.' },
    );
  }
}
