// Writes objects into a bucket, without overwriting one that exists.

import { type ErrorDetails, SvcError, isSvcError } from '../../../base/errors.ts';
import { sha256Of, sha256OfAll } from '../../../base/files/draft.ts';
import type { HttpResponse } from '../../http/exchange.ts';
import type { S3Body } from './body.ts';
import { readObject, readSmallObject } from './read.ts';
import type { S3Requests, S3Response } from './requests.ts';
import { type S3Refusal, s3Error } from './s3-error.ts';
import { readOnlyPlace } from '../store-errors.ts';
import type { StoreContent, StoreHost } from '../store.ts';
import { md5Of } from '../../transfer/receive.ts';
import { describeStoreError } from '../../transfer/store-response.ts';

/** How long a concurrent write may take to become visible. */
const SETTLE_MS = 2_000;

/** How often svc looks for an object that the store confirmed, since replicas may show it later. */
const LOOKS = 5;

/** How often a write is tried while the store reports another write of the same object. */
const ATTEMPTS = 4;

/** The pause after the first attempt or look; later pauses are multiples of it. */
const PAUSE_MS = 250;

/**
 * Writes objects under the condition that their names are free. For a store that does not support this condition, a single
 * writer checks the name first; several writers get an error, since two machines could both find the name free.
 */
export class S3Writer {
  isVersioned = false;
  readonly #requests: S3Requests;
  readonly #content: StoreContent;
  readonly #host: StoreHost;
  /** Whether the store honors the condition of a write; undefined before the first attempt. */
  #honorsCondition: boolean | undefined;
  /** The top folders in which these credentials could read an object. There, a 403 means that the object does not exist. */
  readonly #readableFolders = new Set<string>();
  #hasWarned = false;

  constructor(requests: S3Requests, content: StoreContent, host: StoreHost) {
    this.#requests = requests;
    this.#content = content;
    this.#host = host;
  }

  /** Creates an object. Returns false if the name is taken. @throws SvcError as `ObjectStore.create` */
  create(path: string, body: S3Body): Promise<boolean> {
    return this.#content.writers === 'one' ? this.#createAlone(path, body) : this.#createAmongMany(path, body);
  }

  /** Writes an object, and replaces an existing one. */
  async put(path: string, body: S3Body): Promise<void> {
    await this.#overwrite(path, body);
    // Checks only that the object exists: another machine may have replaced it already.
    await this.#requireStored(path);
  }

  async #createAlone(path: string, body: S3Body): Promise<boolean> {
    if (this.#honorsCondition === false) return this.#checkAndPut(path, body);
    // A store that ignores the condition would overwrite the object, so svc checks for the object first. If the store refuses
    // the check, svc tries the write, whose error explains more.
    const isUntried = this.#honorsCondition === undefined && body.isText;
    if (isUntried && (await this.#exists(path, [301, 307, 400, 403, 404]))) return false;
    const sent = await this.#putAlone(path, body);
    if (sent === undefined) return this.#hasBytes(path, body);
    // An earlier attempt, whose response was lost, may have created the object.
    if (sent.refusal?.status === 412) return sent.wasUnclear && (await this.#hasBytes(path, body));
    if (sent.refusal !== undefined) {
      // If the refusal was not about the condition, the write without it is refused too.
      const isCreated = await this.#checkAndPut(path, body);
      this.#warnOfNoCondition();
      return isCreated;
    }
    if (!body.isText) await this.#requireStored(path, body);
    return !isUntried || this.#tryCondition(path, body);
  }

  /** Returns the response to a conditional PUT, or undefined if another write created the object meanwhile. */
  async #putAlone(path: string, body: S3Body): Promise<S3Response | undefined> {
    try {
      return await this.#putIfFree(path, body, [412, 501]);
    } catch (error) {
      // 409 means that another write of the object is under way, and that write may still fail.
      const isBusy = error instanceof SvcError && error.status === 409;
      // Without the permission to list, a store responds with 403 about an object that does not exist.
      if (isBusy && (await this.#exists(path, [403, 404]))) return undefined;
      throw error;
    }
  }

  /** Writes the same bytes again: a store that ignores the condition confirms the second write too. */
  async #tryCondition(path: string, body: S3Body): Promise<boolean> {
    const sent = await this.#putAlone(path, body);
    this.#honorsCondition = sent === undefined || sent.refusal?.status === 412;
    if (this.#honorsCondition) return true;
    this.#warnOfNoCondition();
    return this.#isLast(path, body);
  }

  #warnOfNoCondition(): void {
    this.#honorsCondition = false;
    this.#host.onWarning?.(
      `${this.#requests.location.name}: the store has no conditional writes, so let only one machine write to the ${this.#content.noun}`,
    );
  }

  async #checkAndPut(path: string, body: S3Body): Promise<boolean> {
    if (await this.#exists(path, [404])) return false;
    await this.#overwrite(path, body);
    if (body.isText) return this.#isLast(path, body);
    // The name of a local file includes its hash, so every writer writes the same bytes.
    await this.#requireStored(path, body);
    return true;
  }

  /** Whether an object has the bytes of this writer after a pause. Without conditions, the last of several writers wins. */
  async #isLast(path: string, body: S3Body): Promise<boolean> {
    await this.#host.clock.sleep(SETTLE_MS, this.#host.signal);
    return this.#hasBytes(path, body);
  }

  async #createAmongMany(path: string, body: S3Body): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      const { response, refusal } = await this.#putIfFree(path, body, [403, 409, 412, 501]);
      this.isVersioned ||= response.header('x-amz-version-id') !== undefined;
      if (refusal === undefined) return this.#isConfirmed(path, body);
      if (refusal.status === 412) return false;
      if (refusal.status === 403) throw this.#forbidden(refusal);
      if (refusal.status === 501) throw this.#withoutCondition();
      // 409 means that another write of the object is under way, and that write may still fail.
      if (attempt === ATTEMPTS) throw this.#serverError(`another write of ${path} does not end`, { status: 409 });
      await this.#host.clock.sleep(PAUSE_MS * attempt, this.#host.signal);
    }
  }

  /** Whether a confirmed object has the bytes of this writer: a store whose replicas agree later may confirm two writers. */
  async #isConfirmed(path: string, { bytes, sha256 }: S3Body): Promise<boolean> {
    for (let look = 1; look <= LOOKS; look += 1) {
      const found = await readSmallObject(this.#requests, path, Math.max(bytes, 64 * 1024), this.#content);
      if (found !== undefined) return sha256Of(found) === sha256;
      await this.#host.clock.sleep(PAUSE_MS * look, this.#host.signal);
    }
    throw this.#serverError(`the store confirmed ${path}, but does not return it`);
  }

  /** Returns the error for a 403, which may also mean wrong or expired credentials. */
  #forbidden(refusal: S3Refusal): SvcError {
    const error = s3Error(refusal);
    if (error.code !== 'forbidden') return error;
    const { received, error: storeError } = refusal;
    const { name } = this.#requests.location;
    return readOnlyPlace(name, this.#content.noun, error, describeStoreError(received, storeError));
  }

  #withoutCondition(): SvcError {
    return new SvcError(
      'config',
      `${this.#requests.location.name}: the store has no conditional writes, so machines cannot share a ${this.#content.noun} there`,
      { hint: 'Use a store that honors If-None-Match, or a directory that all machines see.' },
    );
  }

  #serverError(problem: string, details: ErrorDetails = {}): SvcError {
    return new SvcError('server', `${this.#requests.location.name}: ${problem}`, { retryable: true, ...details });
  }

  #putIfFree(path: string, body: S3Body, handled: readonly number[]): Promise<S3Response> {
    const headers = { 'if-none-match': '*' };
    return this.#requests.send({ method: 'PUT', action: 's3:PutObject', path, body, headers, handled });
  }

  async #overwrite(path: string, body: S3Body): Promise<void> {
    await this.#requests.send({ method: 'PUT', action: 's3:PutObject', path, body });
  }

  async #exists(path: string, handled: readonly number[]): Promise<boolean> {
    const { refusal } = await this.#requests.send({ method: 'HEAD', action: 's3:GetObject', path, handled });
    return refusal === undefined;
  }

  async #hasBytes(path: string, { sha256 }: S3Body): Promise<boolean> {
    try {
      return (await sha256OfAll(readObject(this.#requests, path))) === sha256;
    } catch (error) {
      if (isSvcError(error, 'not_found')) return false;
      throw error;
    }
  }

  /**
   * Checks that the store has a confirmed object, with these bytes if given. Credentials that may not read get a single warning
   * instead.
   * @throws SvcError `server`
   */
  async #requireStored(path: string, body?: S3Body): Promise<void> {
    const folder = path.split('/', 1).join('');
    const request = { method: 'HEAD', action: 's3:GetObject', path, handled: [403, 404], fresh: true } as const;
    for (let look = 1; look <= LOOKS; look += 1) {
      const { response, refusal } = await this.#requests.send(request);
      if (refusal?.status === 403 && !this.#readableFolders.has(folder)) return this.#warnOfNoRead();
      if (refusal === undefined) {
        this.#readableFolders.add(folder);
        if (body === undefined || isSameObject(response, body)) return;
      }
      await this.#host.clock.sleep(SETTLE_MS, this.#host.signal);
    }
    throw this.#serverError(`the store confirmed ${path}, but does not have the bytes that were sent`, {
      hint: 'Run the command again later: no record names the file.',
      facts: { path },
    });
  }

  #warnOfNoRead(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#host.onWarning?.(
      `${this.#requests.location.name}: these credentials may not read what they wrote, so nothing proves that the store has it: allow s3:GetObject`,
    );
  }
}

/** Whether the headers of an object match a body in length, and in MD5 if both are known. */
function isSameObject(response: HttpResponse, { bytes, md5 }: S3Body): boolean {
  const stored = md5Of(response);
  const isSameHash = stored === undefined || md5 === undefined || stored === Buffer.from(md5, 'base64').toString('hex');
  return isSameHash && Number(response.header('content-length')) === bytes;
}
