import { SvcError } from '../../base/errors.ts';
import { writeWhole } from '../../base/files/draft.ts';
import type { Context } from '../../cli/app/command.ts';
import { option } from '../../cli/app/hint.ts';
import { resolvePath } from '../../cli/app/files/typed-path.ts';
import { countText } from '../../cli/output/time.ts';
import { fileSource, hashFile } from '../../client/transfer/source.ts';
import { acceptWords, formWords } from '../prepare/prepare-options.ts';
import { droppedRows, formOf } from '../prepare/prepare.ts';
import { prepareExport } from '../prepare/prepare-export.ts';
import { exclusionsFor } from './exclusion-list.ts';
import type { Export } from './export.ts';
import { prepareAside } from './prepare-aside.ts';
import { sentRequest } from './cycle-request.ts';
import type { RefreshDirectory, Refreshed, RefreshFiles } from './refresh-directory.ts';
import { type RefreshInput, withExport } from './refresh-input.ts';
import { requireReplaceable } from './replaceable-files.ts';
import { announceStep, noteStep } from './step.ts';

/** Makes the request file of the export, unless an earlier command did. Returns its place in the cycle. */
export async function preparedRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
  exported: Export | undefined,
): Promise<number> {
  const { export: typed } = input;
  if (typed === undefined) return lastRequest(context, directory, input);
  const place = placeOf(directory, exported, input);
  const files = directory.filesOf(place);
  const known = directory.requests[place];
  // A crash may have left the request without the columns that were kept beside it.
  const isWhole = known && (!known.options.includes('--keep') || directory.has(files.keep));
  const isThere = directory.has(files.request) && isWhole && !(known && (await isOlder(directory, known, files)));
  const isKept = known && (isThere || known.submitted || exported === undefined);
  if (isKept && isPrepared(known, exported, input)) {
    if (exported === undefined) context.notices.note(`${typed} is gone: its request was prepared before`);
    await takePrepared(context, directory, known, { files, input, exported });
    return place;
  }
  if (known) await requireUnchanged(directory, known, files, input);
  else directory.requireFree(place, input.next);
  await makeRequest(context, directory, place, { ...input, export: typed, exported });
  return place;
}

/** Goes on with the last request of a cycle, without its export. @throws SvcError `usage` for a cycle without requests */
async function lastRequest(context: Context, directory: RefreshDirectory, input: RefreshInput): Promise<number> {
  const place = directory.requests.length - 1;
  const known = directory.requests[place];
  if (known === undefined) throw notBegun(directory, input);
  await takePrepared(context, directory, known, { files: directory.filesOf(place), input });
  return place;
}

/**
 * Goes on with the last request that was submitted, where the export is another one by now. A request that was prepared and
 * not submitted is left alone: the operator may have found that its export was wrong.
 */
export async function submittedRequest(
  context: Context,
  directory: RefreshDirectory,
  input: RefreshInput,
): Promise<number> {
  const place = directory.requests.findLastIndex(({ submitted }) => submitted);
  const known = directory.requests[place];
  if (known === undefined) throw notBegun(directory, input);
  await takePrepared(context, directory, known, { files: directory.filesOf(place), input });
  return place;
}

/** Returns the error for a cycle that has no request to go on with. */
export function notBegun({ cycle, path }: RefreshDirectory, { again }: RefreshInput): SvcError {
  return new SvcError('usage', `${path} has no request of cycle ${cycle} to go on with`, {
    hint: 'Name the export, which begins the cycle:',
    next: withExport(again),
  });
}

/** A request to go on with, and the export of the command if it is the one that the request was made of. */
interface Taking {
  readonly files: RefreshFiles;
  readonly input: RefreshInput;
  readonly exported?: Export | undefined;
}

async function takePrepared(
  context: Context,
  directory: RefreshDirectory,
  known: Refreshed,
  taking: Taking,
): Promise<void> {
  await requireRequest(context, directory, known, taking);
  const { files, input } = taking;
  if (known.options.includes('--keep') && !directory.has(files.keep))
    context.notices.warn(`${files.keep} is gone: the files of what to do have none of the columns that it kept`);
  noteStep(context, input, 'prepare', `done before: ${countText(known.rows, 'row')} in ${files.request}`);
}

interface Making extends RefreshInput {
  readonly export: string;
  readonly exported: Export | undefined;
}

async function makeRequest(
  context: Context,
  directory: RefreshDirectory,
  place: number,
  { exported, ...input }: Making,
): Promise<void> {
  const files = directory.filesOf(place);
  const { how, maxRejects } = input;
  // A file that does not exist is reported as for any other command.
  const source = await fileSource(exported?.path ?? resolvePath(context, input.export));
  const form = await formOf(source.open(), how);
  await requireReplaceable(directory, place, input);
  const { list: exclusions, noted } = await exclusionsFor(context, directory, input);
  const keep = (how.keep ?? []).length === 0 ? undefined : files.keep;
  const replaces = directory.has(files.request) ? await directory.hash(files.request) : undefined;
  const rejects = maxRejects && files.rejects;
  const earlier = rejects !== undefined && directory.has(rejects) ? [await directory.hash(rejects)] : [];
  const limits = [...option('--exclusions', exclusions), ...option('--rejects', rejects)];
  const words = [...input.options, ...acceptWords(how), ...limits, ...option('--max-rejects', maxRejects?.words)];
  announceStep(context, input, 'prepare', ['au', 'prepare', input.export, ...words, ...option('--out', files.request)]);
  await prepareExport(context, input.export, {
    names: { request: files.request, keep, rejects },
    how,
    exclusions,
    maxRejects,
    force: true,
    path: exported?.path,
    words: input.again,
    onRejects: ({ sha256 }) => {
      directory.noteWritten(files.rejects, [...earlier, sha256]);
      directory.save();
    },
    onWhole: (request, prepared, whole) =>
      directory.put(place, {
        export: input.export,
        export_sha256: exported?.sha256 ?? '',
        options: formWords(whole),
        form,
        request_sha256: request.sha256,
        replaces,
        rows: prepared.rows,
        dropped: droppedRows(prepared),
        ...noted,
      }),
  });
}

/** Tells whether an export was changed after its cycle began, and the operator does not add its rows. */
export function isChanged(directory: RefreshDirectory, exported: Export | undefined, input: RefreshInput): boolean {
  const { requests } = directory;
  const isBegun = requests.some(({ submitted }) => submitted);
  return isBegun && !input.add && exported !== undefined && !requests.some((each) => isPrepared(each, exported, input));
}

/** Finds the place of the export among the requests of the cycle. */
export function placeOf(directory: RefreshDirectory, exported: Export | undefined, input: RefreshInput): number {
  const { requests } = directory;
  const last = requests.length - 1;
  if (exported === undefined) return Math.max(last, 0);
  const known = requests.findIndex((request) => isPrepared(request, exported, input));
  if (known !== -1) return known;
  // A request that was never submitted gives its place to the export as it is now.
  return requests.length > 0 && !requests[last]?.submitted ? last : requests.length;
}

/** Tells whether a request was made of this export, read in the same way. A deleted export counts as unchanged. */
export function isPrepared(
  request: Refreshed | undefined,
  exported: Export | undefined,
  { options, exclusions }: RefreshInput,
): boolean {
  if (request === undefined) return false;
  if (exported === undefined) return true;
  if (!request.submitted && request.exclusions !== exclusions) return false;
  return request.export_sha256 === exported.sha256 && request.options.join('\0') === options.join('\0');
}

/**
 * Checks that a prepared request file is still there, or restores it: from the rows that this machine sent, or else from the
 * export.
 */
async function requireRequest(
  context: Context,
  directory: RefreshDirectory,
  known: Refreshed,
  { files, input, exported }: Taking,
): Promise<void> {
  if (directory.has(files.request) && !(await isOlder(directory, known, files)))
    return requireUnchanged(directory, known, files, input);
  const kept = known.submitted ? await sentRequest(context, directory, known) : undefined;
  const copy = kept ?? (await madeAgain(context, directory, { input, exported }));
  if (copy !== undefined && (await hashFile(copy)) === known.request_sha256) {
    const source = await fileSource(copy);
    await writeWhole(resolvePath(context, files.request), false, async (draft) => {
      for await (const piece of source.open()) await draft.write(piece);
    });
    const from = kept === undefined ? input.export : 'the rows that this machine sent';
    context.notices.note(`${files.request} was restored from ${from}`);
    return;
  }
  const facts = { file: files.request };
  if (exported === undefined)
    throw new SvcError('local', `${files.request} is gone`, {
      hint: 'Bring back the export, then run the same command again. To get the results alone:',
      next: ['au', 'resume', input.cycle, '--wait'],
      facts,
    });
  throw new SvcError('local', `${files.request} is gone, and ${input.export} does not give the same file now`, {
    hint: 'Put the file back from a copy and run the same command again, or run it on the machine that sent it. To get the results alone:',
    next: ['au', 'resume', input.cycle, '--wait'],
    facts,
  });
}

/** Makes the request of an export again, in a private file; undefined without an export. */
async function madeAgain(
  context: Context,
  directory: RefreshDirectory,
  { input, exported }: Pick<Taking, 'input' | 'exported'>,
): Promise<string | undefined> {
  const { export: typed } = input;
  if (typed === undefined || exported === undefined) return undefined;
  return prepareAside(context, directory, typed, exported, input);
}

/** Tells whether a kill left the request file of an earlier reading of the export in the place of this one. */
async function isOlder(
  directory: RefreshDirectory,
  { submitted, replaces }: Refreshed,
  { request }: RefreshFiles,
): Promise<boolean> {
  if (submitted || replaces === undefined || !directory.has(request)) return false;
  return (await directory.hash(request)) === replaces;
}

/** @throws SvcError `config` if somebody changed the request file after it was prepared */
async function requireUnchanged(
  directory: RefreshDirectory,
  known: Refreshed,
  files: RefreshFiles,
  { again }: RefreshInput,
): Promise<void> {
  const { request } = files;
  if (!directory.has(request) || (await directory.hash(request)) === known.request_sha256) return;
  if (await isOlder(directory, known, files)) return;
  throw new SvcError('config', `${request} was changed after it was prepared`, {
    hint: 'Nothing was submitted now. Move the file away, and run the same command again, which creates it again:',
    next: again,
    facts: { file: request },
  });
}
