import fs from 'node:fs/promises';
import nodePath from 'node:path';
import { SvcError, systemCodeOf, writeFailure } from '../errors.ts';
import { isLoopback, isSafeAddress, readAddress } from '../security/address.ts';

/** What stands at the place where a download is to go. */
export type Target =
  /** A regular file, or nothing yet; `path` is free of links, so that a link stays one. */
  | { readonly kind: 'file'; readonly path: string }
  /** A pipe with a name, or a device: bytes pass straight through. */
  | { readonly kind: 'pipe' | 'device'; readonly path: string };

/** Looks at a target before any request. @throws SvcError `usage` when it exists and may not be overwritten */
export async function inspectTarget(path: string, overwrite: boolean): Promise<Target> {
  const stat = await fs.stat(path).catch(() => undefined);
  if (stat?.isFIFO()) return { kind: 'pipe', path };
  if (stat?.isCharacterDevice()) return { kind: 'device', path };
  if (stat && !stat.isFile())
    throw new SvcError('usage', `${path} is not a file`, { hint: 'Give a file name.' });
  const isTaken = stat !== undefined || (await fs.lstat(path).catch(() => undefined)) !== undefined;
  if (isTaken && !overwrite) throw taken(path);
  await requireWritable(nodePath.dirname(path), path);
  return { kind: 'file', path: stat ? await fs.realpath(path) : path };
}

async function requireWritable(directory: string, path: string): Promise<void> {
  try {
    await fs.access(directory, fs.constants.W_OK);
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/**
 * Gives the finished file its name, in one step. Without `overwrite` a file that appeared meanwhile stays.
 * @throws SvcError `usage` when the name is taken, `local` when the disk refuses
 */
export async function moveIntoPlace(part: string, target: string, overwrite: boolean): Promise<void> {
  try {
    if (overwrite) await fs.rename(part, target);
    else await moveUnlessTaken(part, target);
  } catch (error) {
    throw systemCodeOf(error) === 'EEXIST' ? taken(target) : writeFailure(target, error);
  }
  await syncDirectory(nodePath.dirname(target));
}

const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

async function moveUnlessTaken(part: string, target: string): Promise<void> {
  try {
    await fs.link(part, target);
    await fs.unlink(part);
  } catch (error) {
    if (!NO_LINKS.has(systemCodeOf(error) ?? '')) throw error;
    // A file system without links: look and rename, with a moment in between.
    if (await fs.lstat(target).catch(() => undefined)) throw taken(target);
    await fs.rename(part, target);
  }
}

// Makes the name durable too. Not every file system lets a directory be synced, and the file is in place.
async function syncDirectory(directory: string): Promise<void> {
  const handle = await fs.open(directory, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function taken(path: string): SvcError {
  return new SvcError('usage', `${path} exists`, {
    hint: 'Give another name, or --force to replace it.',
  });
}

/** The service that gave an address; a client is one. */
export interface AddressSource {
  readonly baseUrl: URL;
  /** Hides a value in all that is shown from now on. */
  readonly addSecret: (value: string) => void;
}

/**
 * Reads a pre-signed address of a job's file: https, or http where the service is on this machine too (R04). It is a
 * secret, so no error ever shows it, and what its query holds is hidden wherever the store may repeat it (R07).
 * @throws SvcError `bad_response`
 */
export function requireStoreAddress(text: string, job: string, source: AddressSource): URL {
  const url = readAddress(text);
  const problem = url === undefined ? 'is not a URL' : problemOf(url, source.baseUrl);
  if (url === undefined || problem !== undefined)
    throw new SvcError('bad_response', `the store address in the service's response ${problem}`, {
      hint: 'Check the base URL; addresses must be https. Nothing was sent.',
    });
  for (const [, value = ''] of url.search.matchAll(/=([^&]+)/g))
    for (const form of [value, decoded(value)]) if (form !== job) source.addSecret(form);
  return url;
}

function problemOf(url: URL, baseUrl: URL): string | undefined {
  if (!isSafeAddress(url)) return `has the scheme ${url.protocol.slice(0, 20)} and leaves this machine`;
  // What listens there is none of the service's; it would get the file, or pass for its results.
  return isLoopback(url) && !isLoopback(baseUrl) ? 'is on this machine, and the service is not' : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether a PUT there must name the blob type: a shared-access signature has `sv` and `sig` in its query. */
export function isAzureType(url: URL): boolean {
  return url.searchParams.has('sv') && url.searchParams.has('sig');
}
