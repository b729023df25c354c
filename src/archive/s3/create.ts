import { createHash } from 'node:crypto';
import { isSvcError } from '../../errors.ts';
import type { LocalFile } from '../store.ts';
import { drain } from './answer.ts';
import { fileBody, type S3Body, textBody } from './body.ts';
import { readObject } from './read.ts';
import { s3Error } from './refusal.ts';
import type { S3Answer, S3Requests } from './requests.ts';

/** Makes objects that must not exist yet, with a conditional write where the store has it. */
export class S3Creator {
  readonly #requests: S3Requests;
  readonly #onUnconditional: () => void;
  /** Whether the store keeps to the condition; not known before it was tried. */
  #keepsCondition: boolean | undefined;

  /** `onUnconditional` is called once, when the store turns out to write without looking. */
  constructor(requests: S3Requests, onUnconditional: () => void) {
    this.#requests = requests;
    this.#onUnconditional = onUnconditional;
  }

  /** False when the object exists, unless it is there by an attempt of ours. @throws SvcError */
  async create(path: string, content: LocalFile | string): Promise<boolean> {
    const body = typeof content === 'string' ? textBody(content) : await fileBody(content);
    if (this.#keepsCondition === false) return this.#lookAndPut(path, body);
    const sent = await this.#put(path, body, true);
    const { status } = sent.answer;
    if (status === 412 || status === 409) return sent.wasUnclear && (await this.#isThere(path, body));
    if (sent.refusal !== undefined) {
      // The condition, or something else? Without it a request that is wrong otherwise is refused all the same.
      const isMade = await this.#lookAndPut(path, body);
      this.#distrust();
      return isMade;
    }
    if (this.#keepsCondition === undefined && body.isText) await this.#probe(path, body);
    return true;
  }

  // A store that does not know the condition may pass over it in silence. The same bytes once more do no harm.
  async #probe(path: string, body: S3Body): Promise<void> {
    const { answer } = await this.#put(path, body, true);
    if (answer.status === 412 || answer.status === 409) this.#keepsCondition = true;
    else this.#distrust();
  }

  #distrust(): void {
    this.#keepsCondition = false;
    this.#onUnconditional();
  }

  async #lookAndPut(path: string, body: S3Body): Promise<boolean> {
    const look = await this.#requests.send({ method: 'HEAD', action: 's3:GetObject', path, wanted: [404] });
    if (look.refusal === undefined) return false;
    const { refusal } = await this.#put(path, body, false);
    if (refusal !== undefined) throw s3Error(refusal);
    // Nothing kept another writer from doing the same: what is there now tells who was last. A segment has its hash
    // in its name, so whoever wrote it wrote the same.
    return !body.isText || this.#isThere(path, body);
  }

  async #put(path: string, body: S3Body, isNew: boolean): Promise<S3Answer> {
    const sent = await this.#requests.send({
      method: 'PUT',
      action: 's3:PutObject',
      path,
      body,
      headers: isNew ? { 'if-none-match': '*' } : {},
      wanted: isNew ? [400, 409, 412, 501] : [],
    });
    if (sent.refusal === undefined) await drain(sent.answer);
    else if (sent.refusal.status === 400 && !isAboutCondition(sent.refusal.error.code))
      throw s3Error(sent.refusal);
    return sent;
  }

  // After an attempt without an answer: what is there may be what that attempt wrote.
  async #isThere(path: string, { sha256 }: S3Body): Promise<boolean> {
    const hash = createHash('sha256');
    try {
      for await (const chunk of readObject(this.#requests, path)) hash.update(chunk);
    } catch (error) {
      if (isSvcError(error, 'not_found')) return false;
      throw error;
    }
    return hash.digest('hex') === sha256;
  }
}

function isAboutCondition(code: string | undefined): boolean {
  return (
    code === undefined || ['InvalidArgument', 'InvalidRequest', 'NotImplemented', 'BadRequest'].includes(code)
  );
}
