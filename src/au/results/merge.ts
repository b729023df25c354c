// Merges the results of jobs into one file, and delivers it to the output that was typed.

import fs from 'node:fs';
import nodePath from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { shownPath } from '../../base/files/names.ts';
import { Draft, type DraftWriter, removeAbandonedDrafts, type SealedFile } from '../../base/files/draft.ts';
import { inspectTarget } from '../../base/files/target.ts';
import type { Context } from '../../cli/app/command.ts';
import { csvRow, csvRows } from '../../cli/output/csv.ts';
import { fileSource, hashIfReadable } from '../../client/transfer/source.ts';
import { RESULT_COLUMNS } from '../../schema/account-updater-files.ts';
import { recognizeFile } from '../request/file-kind.ts';
import { LF } from '../request/request-file.ts';
import { copyOut, openSpool } from '../request/spool.ts';
import { readResults } from '../result-codes.ts';
import { lastByteOf } from './download.ts';
import { extraColumns, mergedInOrder, resultCells } from './merge-in-order.ts';
import type { PartRows } from './rows-of-request.ts';

export interface MergeOptions {
  readonly overwrite: boolean;
  /** The process that writes. */
  readonly writer: DraftWriter;
  /** The rows of each part in the order of the request, if the parts are not consecutive slices of it. */
  readonly rows?: readonly PartRows[] | undefined;
}

/**
 * Merges the results of all parts in the order of the request. Writes the complete file or nothing; a file with the same bytes stays.
 * Consecutive slices with the same header are joined byte for byte. Otherwise the file gets the columns of all parts, by name.
 */
export async function mergeResults(
  parts: readonly string[],
  target: string,
  { overwrite, rows, writer }: MergeOptions,
): Promise<SealedFile> {
  const draft = await Draft.begin(target, writer);
  try {
    const pieces = rows ? mergedInOrder(parts, rows) : mergedSlices(parts);
    for await (const piece of pieces) await draft.write(piece);
    const sealed = await draft.seal();
    try {
      return await draft.finish(overwrite && (await hashIfReadable(target)) !== sealed.sha256);
    } catch (error) {
      // An earlier command, or another process meanwhile, may have written the same results.
      if (!isSvcError(error, 'usage') || (await hashIfReadable(target)) !== sealed.sha256) throw error;
      // A command that was killed after it linked the file left its draft behind.
      removeAbandonedDrafts(target, writer);
      return sealed;
    }
  } finally {
    await draft.discard();
  }
}

async function* mergedSlices(parts: readonly string[]): AsyncGenerator<Uint8Array | string> {
  const headers = await Promise.all(parts.map((part) => headerOf(part)));
  const isSame = headers.every((header) => header.equals(headers[0] ?? header));
  yield* isSame ? joinedBytes(parts) : withAllColumns(parts);
}

async function headerOf(file: string): Promise<Buffer> {
  for await (const chunk of (await fileSource(file)).open()) {
    const end = chunk.indexOf(LF);
    return Buffer.from(end === -1 ? chunk : chunk.subarray(0, end + 1));
  }
  return Buffer.alloc(0);
}

async function* joinedBytes(parts: readonly string[]): AsyncGenerator<Uint8Array> {
  let endsLine = true;
  for (const [index, part] of parts.entries()) {
    let inHeader = index > 0;
    for await (const chunk of (await fileSource(part)).open()) {
      const rest = inHeader ? withoutHeader(chunk) : chunk;
      inHeader = false;
      if (rest.byteLength === 0) continue;
      if (!endsLine) yield Uint8Array.of(LF);
      yield rest;
      // Only the last line of a part may lack its line end.
      endsLine = true;
    }
    endsLine = (await lastByteOf(part)) === LF;
  }
}

function withoutHeader(chunk: Uint8Array): Uint8Array {
  const end = chunk.indexOf(LF);
  return end === -1 ? new Uint8Array() : chunk.subarray(end + 1);
}

async function* withAllColumns(parts: readonly string[]): AsyncGenerator<string> {
  const extra = await extraColumns(parts);
  yield csvRow([...RESULT_COLUMNS, ...extra]);
  for (const part of parts) {
    for await (const rows of readResults((await fileSource(part)).open())) {
      yield csvRows(rows.map((row) => resultCells(row, extra)));
    }
  }
}

/** A results file with its size in bytes and its hexadecimal hash. */
export interface ResultsFile extends SealedFile {
  readonly file: string;
}

/** Results that were delivered to the output that was typed. */
export interface DeliveredResults extends ResultsFile {
  /** The file to read again: a private copy of results that went into a pipe or a device. */
  readonly copy: string;
}

/** Returns the name of delivered results in a command to run next. Results that went into a pipe have none. */
export function nextFileOf({ file, copy }: Pick<DeliveredResults, 'file' | 'copy'>, name = file): string {
  return file === copy ? name : '<results>';
}

export interface Destination {
  readonly out: string;
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
}

/**
 * Merges the results of several jobs into a file, a pipe or a device. An existing file with the same bytes stays. `again` is
 * the command that delivers the results later.
 * @throws SvcError `usage` for any other file, unless it may be replaced
 */
export async function deliverResults(
  context: Context,
  files: readonly string[],
  { out, force, again }: Destination & { readonly again: readonly string[] },
  rows?: readonly PartRows[],
): Promise<DeliveredResults> {
  const target = await inspectTarget(out, true);
  const writer = context.system;
  if (target.kind !== 'file') {
    const spool = await openSpool(context);
    const merged = await mergeResults(files, spool, { overwrite: true, rows, writer });
    await copyOut(context, spool, out);
    return { file: out, copy: spool, ...merged };
  }
  const path = nodePath.resolve(target.path);
  try {
    const merged = await mergeResults(files, path, { overwrite: force, rows, writer });
    return { file: path, copy: path, ...merged };
  } catch (error) {
    if (!isSvcError(error, 'usage')) throw error;
    throw error.with({
      message: `${error.message}, and has other content than the results, which are complete`,
      hint: 'It was not replaced. Write the results to another file, which sends nothing again:',
      next: toOtherFile(again),
    });
  }
}

/** Returns a command with another file for its output. */
function toOtherFile(words: readonly string[]): string[] {
  const at = words.findIndex((word) => /^--out(?:=|$)/.test(word));
  const others = at === -1 ? words : words.toSpliced(at, words[at] === '--out' ? 2 : 1);
  return [...others, '--out', '<file>'];
}

/**
 * Checks the output file before any request. An existing results file is accepted, because an earlier command may have written
 * the same results.
 * @throws SvcError `usage` for any other existing file, and for a request file even with --force
 */
export async function requireDestination({ out, force }: Destination): Promise<void> {
  await requireNoRequest(out);
  if (force || !(await isResultFile(out))) await inspectTarget(out, force);
}

/** Checks that the output is no request file, which results never replace. @throws SvcError `usage` */
export async function requireNoRequest(out: string): Promise<void> {
  if ((await kindOf(out)) !== 'request') return;
  throw new SvcError('usage', `${shownPath(out)} is a request file, and results never replace one`, {
    hint: 'Nothing was done, not even with --force. Give another file with --out.',
    facts: { file: out },
  });
}

async function isResultFile(name: string): Promise<boolean> {
  return (await kindOf(name)) === 'results';
}

async function kindOf(name: string) {
  const stat = await fs.promises.stat(name).catch(() => undefined);
  return stat?.isFile() === true ? recognizeFile(name) : undefined;
}
