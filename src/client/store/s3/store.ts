import path from 'node:path';
import { isSvcError, SvcError } from '../../../base/errors.ts';
import { makeDirectory } from '../../../base/files/directory.ts';
import { sha256Of, sha256OfAll } from '../../../base/files/draft.ts';
import { createTransport } from '../../http/transport.ts';
import { md5Of } from '../../transfer/receive.ts';
import { describeStoreError } from '../../transfer/store.ts';
import {
  damagedFile,
  isLocalFile,
  type LocalFile,
  readOnlyPlace,
  type Store,
  type StoredFile,
  type StoreContent,
  type StoreHost,
  workAlone,
} from '../store.ts';
import { listNames, listObjects, readObject } from './read.ts';
import { bytesBody, fileBody, type S3Body, S3Requests, type S3Response, textBody } from './requests.ts';
import { s3Error, type S3Refusal } from './s3-error.ts';
import { parseBucketLocation, s3Settings } from './settings.ts';

/** The time after which a concurrent write is visible. */
const SETTLE_MS = 2_000;

/** How often svc looks for an object that the store confirmed, since replicas may show it later. */
const LOOKS = 5;

/** How often a write is tried while the store reports another write of the same name. */
const ATTEMPTS = 4;
/** The pause after the first attempt or look; later pauses are multiples of it. */
const PAUSE_MS = 250;

/**
 * A store in a bucket. Each file is written under the condition that its name is free. If the store does not support such
 * conditions, a single writer checks the name first; several writers get an error, since two machines could both find the
 * name free.
 */
export class S3Store implements Store {
  readonly name: string;
  readonly isRemote = true;
  isVersioned = false;
  readonly #host: StoreHost;
  readonly #content: StoreContent;
  readonly #requests: S3Requests;
  readonly #id: string;
  /** Whether the store honors the condition of a write; undefined before the first attempt. */
  #honorsCondition: boolean | undefined;
  /** The top folders in which these credentials could read an object. There, a refusal means that the object does not exist. */
  readonly #seenFolders = new Set<string>();
  #hasWarned = false;

  /** Opens a location. @throws SvcError `usage` for a malformed location, `key_missing` and `config` for the environment */
  constructor(text: string, host: StoreHost, content: StoreContent) {
    const location = parseBucketLocation(text);
    const settings = s3Settings(host.env);
    const { clock, signal, trace } = host;
    this.name = location.name;
    this.#host = host;
    this.#content = content;
    const transport = createTransport(host.env);
    this.#requests = new S3Requests({ location, settings, transport, clock, signal, trace });
    this.#id = sha256Of(`${settings.endpoint?.href ?? ''} ${location.name}`).slice(0, 16);
  }

  get workDirectory(): string {
    const { lock = '' } = this.#content;
    return path.join(this.#host.bucketWork?.() ?? '', lock === '' ? this.#id : `${this.#id}-${lock}`);
  }

  list(prefix: string, after?: string): AsyncIterable<StoredFile> {
    return listObjects(this.#requests, prefix, after);
  }

  async find(file: string): Promise<StoredFile | undefined> {
    for await (const found of this.list(file)) if (found.path === file) return found;
    return undefined;
  }

  names(): Promise<readonly string[]> {
    return listNames(this.#requests);
  }

  async read(file: string, most: number): Promise<Uint8Array | undefined> {
    const { body, refusal } = await this.#requests.send({
      method: 'GET',
      action: 's3:GetObject',
      path: file,
      bodyLimit: most,
      // A new connection sees the same as another machine would.
      fresh: this.#content.writers !== 'one',
      handled: [404],
    });
    if (refusal !== undefined) {
      if (refusal.error.code === 'NoSuchBucket') throw s3Error(refusal);
      return undefined;
    }
    if (!body?.complete) throw damagedFile(file, `it has more than ${most} bytes`, this.#content);
    return body.bytes;
  }

  stream(file: string): AsyncIterable<Uint8Array> {
    return readObject(this.#requests, file);
  }

  async readRange(file: string, from: number, length: number): Promise<Uint8Array> {
    if (from < 0 || length < 0) throw damagedFile(file, 'it is too short', this.#content);
    const chunks: Uint8Array[] = [];
    for await (const chunk of readObject(this.#requests, file, { from, to: from + length })) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (bytes.length !== length) throw damagedFile(file, 'it is too short', this.#content);
    return bytes;
  }

  async put(file: string, text: string): Promise<void> {
    const body = textBody(text);
    await this.#requests.send({ method: 'PUT', action: 's3:PutObject', path: file, body });
    // Checks only that the file exists: another machine may have replaced it already.
    await this.#requireStored(file);
  }

  async remove(file: string): Promise<void> {
    await this.#requests.send({ method: 'DELETE', action: 's3:DeleteObject', path: file, handled: [404] });
  }

  /** Locks out other runs on this machine. Runs on other machines are not locked out; their commits fail. */
  async lock<T>(work: () => Promise<T>): Promise<T> {
    makeDirectory(path.dirname(this.workDirectory));
    return workAlone(this, { noun: this.#content.noun, lock: `${this.workDirectory}.lock` }, this.#host, work);
  }

  async create(path: string, content: LocalFile | Uint8Array | string): Promise<'created' | 'exists'> {
    const body = await bodyOf(content);
    const isOne = this.#content.writers === 'one';
    return (await (isOne ? this.#createAlone(path, body) : this.#createAmongMany(path, body))) ? 'created' : 'exists';
  }

  /** Creates an object as the only writer. Returns false if the object exists, unless an earlier attempt created it. */
  async #createAlone(path: string, body: S3Body): Promise<boolean> {
    if (this.#honorsCondition === false) return this.#checkAndPut(path, body);
    // A store that ignores the condition would overwrite the object, so svc checks for the object first. If the store refuses
    // the check, svc tries the write, whose error explains more.
    const isUntried = this.#honorsCondition === undefined && body.isText;
    if (isUntried && (await this.#exists(path, [301, 307, 400, 403, 404]))) return false;
    const sent = await this.#putNew(path, body);
    if (sent === undefined) return this.#isThere(path, body);
    if (sent.refusal?.status === 412) return sent.wasUnclear && (await this.#isThere(path, body));
    if (sent.refusal === undefined && !body.isText) await this.#requireStored(path, body);
    if (sent.refusal !== undefined) {
      // If the refusal was not about the condition, the write without it is refused too.
      const isMade = await this.#checkAndPut(path, body);
      this.#distrust();
      return isMade;
    }
    return !isUntried || this.#probe(path, body);
  }

  async #createAmongMany(path: string, body: S3Body): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      const { response, refusal } = await this.#requests.send({
        method: 'PUT',
        action: 's3:PutObject',
        path,
        body,
        headers: { 'if-none-match': '*' },
        handled: [403, 409, 412, 501],
      });
      this.isVersioned ||= response.header('x-amz-version-id') !== undefined;
      if (refusal === undefined) return this.#hasBytes(path, body);
      if (refusal.status === 412) return false;
      if (refusal.status === 403) throw this.#forbidden(refusal);
      if (refusal.status === 501) throw this.#withoutCondition();
      // 409 means that another write of the same name is under way, and that write may still fail.
      if (attempt === ATTEMPTS)
        throw new SvcError('server', `${this.name}: another write of ${path} does not end`, {
          status: 409,
          retryable: true,
        });
      await this.#host.clock.sleep(PAUSE_MS * attempt, this.#host.signal);
    }
  }

  /** Compares an object with the written bytes: a store whose replicas agree later may confirm two writers. */
  async #hasBytes(path: string, { bytes, sha256 }: S3Body): Promise<boolean> {
    for (let look = 1; look <= LOOKS; look += 1) {
      const found = await this.read(path, Math.max(bytes, 64 * 1024));
      if (found !== undefined) return sha256Of(found) === sha256;
      await this.#host.clock.sleep(PAUSE_MS * look, this.#host.signal);
    }
    throw new SvcError('server', `${this.name}: the store confirmed ${path}, but does not return it`, {
      retryable: true,
    });
  }

  /** Returns the error for a 403, which may also mean wrong or expired credentials. */
  #forbidden(refusal: S3Refusal): SvcError {
    const error = s3Error(refusal);
    if (error.code !== 'forbidden') return error;
    return readOnlyPlace(this.name, this.#content.noun, error, describeStoreError(refusal.received, refusal.error));
  }

  #withoutCondition(): SvcError {
    return new SvcError(
      'config',
      `${this.name}: the store has no conditional writes, so machines cannot share a ${this.#content.noun} there`,
      { hint: 'Use a store that honors If-None-Match, or a directory that all machines see.' },
    );
  }

  // 409 means that another write of the object is under way, and that write may still fail. Returns undefined if the object exists
  // after a 409.
  async #putNew(path: string, body: S3Body): Promise<S3Response | undefined> {
    try {
      return await this.#put(path, body, true);
    } catch (error) {
      const isBusy = error instanceof SvcError && error.status === 409;
      // Without the permission to list, a store responds with 403 about an object that does not exist.
      if (isBusy && (await this.#exists(path, [403, 404]))) return undefined;
      throw error;
    }
  }

  // Writes the same bytes again, to find out whether the store silently ignores the condition.
  async #probe(path: string, body: S3Body): Promise<boolean> {
    const sent = await this.#putNew(path, body);
    this.#honorsCondition = sent === undefined || sent.refusal?.status === 412;
    if (this.#honorsCondition) return true;
    this.#distrust();
    return this.#isLast(path, body);
  }

  #distrust(): void {
    this.#honorsCondition = false;
    this.#host.onWarning?.(
      `${this.name}: the store has no conditional writes, so let only one machine write to the ${this.#content.noun}`,
    );
  }

  async #checkAndPut(path: string, body: S3Body): Promise<boolean> {
    if (await this.#exists(path, [404])) return false;
    const { refusal } = await this.#put(path, body, false);
    if (refusal !== undefined) throw s3Error(refusal);
    if (!body.isText) await this.#requireStored(path, body);
    // The name of a local file includes its hash, so every writer writes the same bytes.
    return !body.isText || this.#isLast(path, body);
  }

  async #exists(path: string, handled: readonly number[]): Promise<boolean> {
    const request = { method: 'HEAD', action: 's3:GetObject', path, handled } as const;
    return (await this.#requests.send(request)).refusal === undefined;
  }

  // Without conditions, several writers may succeed. After a pause, the object has the bytes of the last writer.
  async #isLast(path: string, body: S3Body): Promise<boolean> {
    await this.#host.clock.sleep(SETTLE_MS, this.#host.signal);
    return this.#isThere(path, body);
  }

  async #put(path: string, body: S3Body, isNew: boolean): Promise<S3Response> {
    const sent = await this.#requests.send({
      method: 'PUT',
      action: 's3:PutObject',
      path,
      body,
      headers: isNew ? { 'if-none-match': '*' } : {},
      handled: isNew ? [400, 412, 501] : [],
    });
    const { refusal } = sent;
    if (refusal?.status === 400 && !isAboutCondition(refusal.error.code)) throw s3Error(refusal);
    return sent;
  }

  /**
   * Checks that a confirmed object is really stored, before a record names the object. Credentials that may not read get a
   * single warning instead.
   */
  async #requireStored(path: string, body?: S3Body): Promise<void> {
    const folder = path.split('/', 1).join('');
    const request = { method: 'HEAD', action: 's3:GetObject', path, handled: [403, 404], fresh: true } as const;
    for (let look = 1; look <= LOOKS; look += 1) {
      const { response, refusal } = await this.#requests.send(request);
      if (refusal?.status === 403 && !this.#seenFolders.has(folder)) return this.#warnOfNoRead();
      if (refusal === undefined) {
        this.#seenFolders.add(folder);
        if (body === undefined) return;
        const md5 = md5Of(response);
        const isSame = Number(response.header('content-length')) === body.bytes;
        if (isSame && (md5 === undefined || body.md5 === undefined || md5 === hexOf(body.md5))) return;
      }
      await this.#host.clock.sleep(SETTLE_MS, this.#host.signal);
    }
    throw new SvcError(
      'server',
      `${this.name}: the store confirmed ${path}, but does not have the bytes that were sent`,
      { hint: 'Run the command again later: no record names the file.', retryable: true, facts: { path } },
    );
  }

  #warnOfNoRead(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#host.onWarning?.(
      `${this.name}: these credentials may not read what they wrote, so nothing proves that the store has it: allow s3:GetObject`,
    );
  }

  // Whether the object has these bytes, since an attempt without a response may have written them.
  async #isThere(path: string, { sha256 }: S3Body): Promise<boolean> {
    try {
      return (await sha256OfAll(readObject(this.#requests, path))) === sha256;
    } catch (error) {
      if (isSvcError(error, 'not_found')) return false;
      throw error;
    }
  }
}

async function bodyOf(content: LocalFile | Uint8Array | string): Promise<S3Body> {
  if (typeof content === 'string') return textBody(content);
  return isLocalFile(content) ? fileBody(content) : bytesBody(content);
}

function hexOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function isAboutCondition(code: string | undefined): boolean {
  return code === undefined || ['InvalidArgument', 'InvalidRequest', 'NotImplemented', 'BadRequest'].includes(code);
}
