import { isSvcError } from '../errors.ts';
import { findText, headText, parseHead, recordTexts, type TextFound } from './chain.ts';
import type { Finding } from './finding.ts';
import { HEAD, hashOf, type Link, parseRecord, recordPath } from './record.ts';
import type { ArchiveStore } from './store.ts';

/** What checking a chain meets, in order. */
export type ChainItem = { readonly link: Link } | { readonly finding: Finding };

/** A record as far as it is known even where it cannot be read: its number and the hash of its bytes. */
export interface Seen {
  readonly sequence: number;
  readonly sha256: string;
}

/**
 * Goes through all records and does not stop at the first that is wrong. Gives every record that can be read and all
 * that does not fit; returns the newest record, or undefined where there is none.
 * @throws SvcError `config` for a newer version, `local`
 */
export async function* checkChain(store: ArchiveStore): AsyncGenerator<ChainItem, Seen | undefined> {
  // Before the records, so that what a writer adds meanwhile does not put it ahead of them.
  const head = await findText(store, HEAD);
  const named = head.text === undefined ? undefined : parseHead(head.text);
  let namedHash: string | undefined;
  let last: Seen | undefined;
  for await (const { path, sequence, text, problem } of recordTexts(store)) {
    if (sequence === undefined) {
      if (path !== HEAD && !isHidden(path)) yield found('unlisted', path, 'it is no record');
      continue;
    }
    if (text === undefined && problem === undefined) continue;
    yield* missingBetween(last, sequence);
    const now = { sequence, sha256: hashOf(text ?? '') };
    if (problem !== undefined) yield found('damaged', path, problem);
    else yield* checkRecord(text ?? '', path, now, last);
    if (sequence === named?.sequence) namedHash = now.sha256;
    last = now;
  }
  yield* checkHead(head, namedHash, last);
  return last;
}

/** Whether a file is none of ours: its name, or that of a folder around it, begins with a dot. */
export function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
}

function* checkRecord(text: string, path: string, now: Seen, last: Seen | undefined): Generator<ChainItem> {
  let link: Link;
  try {
    link = parseRecord(text, path);
  } catch (error) {
    if (!isSvcError(error, 'altered')) throw error;
    yield found('damaged', path, error.message.replace(`${path} is damaged: `, ''));
    return;
  }
  const { sequence, previous, kind } = link.record;
  if (sequence !== now.sequence) yield found('unfit', path, `it says that it is record ${sequence}`);
  if ((kind === 'begin') !== (now.sequence === 0))
    yield found('unfit', path, `a ${kind} record cannot stand here`);
  if (now.sequence === 0 ? previous !== null : isUnchained(previous, now, last))
    yield found('changed', path, 'it does not chain: it was changed, or the record before it');
  yield { link };
}

// Behind a record that is missing nothing can be said.
function isUnchained(previous: string | null, now: Seen, last: Seen | undefined): boolean {
  return last?.sequence === now.sequence - 1 && previous !== last.sha256;
}

function* missingBetween(last: Seen | undefined, sequence: number): Generator<ChainItem> {
  const due = last === undefined ? 0 : last.sequence + 1;
  if (sequence > due) yield missing(due, sequence - 1);
}

// The head may lag behind, as it does after a crash between a commit and its update, but never be ahead.
function* checkHead(
  { text, problem }: TextFound,
  namedHash: string | undefined,
  last: Seen | undefined,
): Generator<ChainItem> {
  const head = text === undefined ? undefined : parseHead(text);
  const due = last === undefined ? 0 : last.sequence + 1;
  if (problem !== undefined) yield found('damaged', HEAD, problem);
  else if (text === undefined) {
    if (due > 1)
      yield found('missing', HEAD, "it is missing; the next commit of 'svc logs archive' recreates it");
  } else if (head === undefined) yield found('damaged', HEAD, 'it names no record');
  else if (head.sequence >= due) yield missing(due, head.sequence);
  else if (namedHash !== head.sha256) {
    const words = `it was changed, or ${HEAD}, which names another hash of it`;
    yield found('changed', recordPath(head.sequence), words);
  } else if (text !== headText(head)) yield found('changed', HEAD, 'it is not as it was written');
}

function missing(from: number, to: number): ChainItem {
  if (from === to) return found('missing', recordPath(from), 'it is missing');
  return found(
    'missing',
    recordPath(from),
    `it is missing, and all ${to - from} records up to ${recordPath(to)}`,
  );
}

function found(problem: Finding['problem'], path: string, message: string): ChainItem {
  return { finding: { problem, path, message } };
}
