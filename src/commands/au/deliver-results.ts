import path from 'node:path';
import {
  checkDestination,
  type Destination,
  keepResults,
  writeResults,
} from '../../account-updater/merge.ts';
import type { ResultsFile } from '../../account-updater/record.ts';
import type { RunDirectory } from '../../account-updater/run-directory.ts';
import { type Spooled, spoolFile } from '../../account-updater/spool.ts';
import type { Context } from '../../app/command.ts';
import { requireDirectory } from '../../config/paths.ts';
import { SvcError } from '../../errors.ts';
import { copyInto } from '../../transfer/source.ts';
import { fileSource } from '../../transfer/source.ts';
import { inspectTarget } from '../../files/target.ts';

/** What `--out` takes for standard output. */
const STANDARD_OUTPUT = '-';

/** Checks where the results are to go, before any request. `run` may have written the file that is there. */
export async function requireDestination(
  context: Context,
  destination: Destination,
  run?: RunDirectory,
): Promise<void> {
  if (destination.out !== STANDARD_OUTPUT) return checkDestination(run?.record, destination);
  const { globals, query } = context;
  if ((globals.output ?? 'csv') === 'csv' && !query && globals.fields === undefined) return;
  throw new SvcError('usage', 'with --out - the output is the result file', {
    hint: 'Leave --output, --fields and --jq out.',
  });
}

/** Writes the results of a run where they are to go: a file, a pipe, a device, or standard output. */
export async function deliverResults(
  context: Context,
  run: RunDirectory,
  destination: Destination,
): Promise<ResultsFile> {
  const isFile = destination.out !== STANDARD_OUTPUT;
  const results = isFile ? await writeResults(run, destination) : await keepResults(run);
  await copyOut(context, results.file, destination.out);
  return results;
}

/** Copies a finished file to a target that is none itself; what is a file already stays as it is. */
export async function copyOut(context: Context, file: string, out: string): Promise<void> {
  if (out === STANDARD_OUTPUT) {
    for await (const piece of (await fileSource(file)).open()) await context.out.writeBytes(piece);
    return;
  }
  const target = await inspectTarget(out, true);
  if (target.kind !== 'file') await copyInto(target, file, context);
}

/** A private file for what goes to standard output, a pipe or a device: nothing is passed on before it is proven. */
export async function openSpool(context: Context): Promise<Spooled> {
  const { system, signal } = context;
  const directory = path.join(requireDirectory(system, 'state'), 'spool');
  const host = { pid: system.pid, isAlive: (pid: number) => system.isAlive(pid), signal };
  const spooled = await spoolFile(directory, host);
  context.onClose(() => spooled.remove());
  return spooled;
}
