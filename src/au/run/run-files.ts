import fs from 'node:fs';
import { SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { runWord } from './run-word.ts';
import { value } from '../../cli/app/parameter.ts';
import { refuseRequests } from './own-requests.ts';
import { recordedRun } from './recorded-runs.ts';
import { readableRequest } from './request-copy.ts';
import type { RunDirectory } from './run-directory.ts';

/** The option `--run`, which reads the files of a run instead of named files. */
export const runParameter = value('--run <run>', 'read the results and the request file of this run', runWord);

/** The files that the operator named, as typed. */
interface NamedFiles {
  readonly request?: string | undefined;
  readonly results?: string | undefined;
  /** The files to be written. */
  readonly out?: string | undefined;
  readonly excluded?: string | undefined;
  readonly html?: string | undefined;
}

/**
 * Finds the request and the results of a run by its id or directory. Named files replace the files of the run.
 * @throws SvcError `not_found` for an unknown run, `local` for a run without one of the files
 */
export async function filesOfRun(context: Context, name: string, named: NamedFiles = {}) {
  const run = await recordedRun(context, name);
  if (run === undefined)
    throw new SvcError('not_found', `${name} is no run recorded on this machine`, { next: ['au', 'jobs'] });
  const { out, excluded, html } = named;
  refuseRequests(context, { '--out': out, '--excluded': excluded, '--html': html }, [run]);
  const { record } = run;
  const results = named.results ?? record.results?.file;
  if (results === undefined || (named.results === undefined && !fs.existsSync(results)))
    throw new SvcError(
      'local',
      `the results of ${record.id} are ${results === undefined ? 'not written yet' : 'gone'}`,
      {
        hint: results === undefined ? 'Wait for them:' : `They were in ${results}. Download them again:`,
        next:
          results === undefined
            ? ['au', 'resume', run.name, '--wait']
            : ['au', 'download', run.name, '--out', '<file>'],
        facts: { run: record.id },
      },
    );
  const request = named.request ?? (await readableRequest(context, run));
  if (request === undefined)
    throw new SvcError('local', noRequestText(run), {
      hint: 'Name the request file and the results instead:',
      next: ['au', 'report', results, '--request', '<file>'],
      facts: { run: record.id },
    });
  return { request, results, name: record.input.path, cycle: record.cycle };
}

function noRequestText({ record, requestFile }: RunDirectory): string {
  if (requestFile !== undefined) return `${requestFile}, the copy of the request file of ${record.id}, is damaged`;
  return `${record.id} has no copy of its request file: it was removed or pruned`;
}
