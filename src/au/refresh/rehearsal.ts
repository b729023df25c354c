import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { serviceOf } from '../../cli/app/service.ts';
import { SANDBOX_PROFILE } from '../../cli/config/values.ts';
import { readSandboxKey } from '../../client/api/sandbox-key.ts';
import { REHEARSAL_WARNING } from '../../schema/account-updater-files.ts';
import { isLoopback } from '../../schema/address.ts';

/** The directory of all cycles that were rehearsed. */
const REHEARSALS = 'rehearsal';

/** The jobs, ledger and sandbox of all rehearsals in a directory. No cycle has a name that begins with a dot. */
export const REHEARSAL_STATE = path.join(REHEARSALS, '.state');

/** Returns the usual directory of all cycles. What a sandbox says of made-up cards must leave no real card out. */
export function usualParent(context: Context): string {
  if (context.isRehearsal) return REHEARSALS;
  return serviceOf(context) === 'sandbox' ? 'refresh-sandbox' : 'refresh';
}

/** The options that a rehearsal refuses, as far as they were typed. */
interface Refused {
  readonly outDir: string | undefined;
  readonly dryRun: boolean;
}

/** Checks that a rehearsal meets the embedded sandbox, and that nothing but its own files comes of it. @throws SvcError `usage` */
export function requireRehearsal(
  { settings: { sandbox, baseUrl } }: Context,
  { outDir, dryRun }: Refused,
  again: readonly string[],
): void {
  if (!sandbox || baseUrl !== undefined)
    throw new SvcError('usage', '--rehearse needs the embedded sandbox; nothing was sent', {
      hint: 'No real service invents outcomes. Rehearse without a base URL and without keys:',
      next: [...again, '--profile', SANDBOX_PROFILE],
    });
  const refused = [
    outDir !== undefined && ['--out-dir', `Its files are below ${REHEARSALS}, apart from those of real cycles.`],
    dryRun && ['--dry-run', 'It sends nothing to a real service.'],
  ].find((each) => each !== false);
  if (refused)
    throw new SvcError('usage', `--rehearse and ${refused[0]} cannot be used together`, {
      hint: `${refused[1]} Leave ${refused[0]} out:`,
      next: again,
    });
}

/**
 * Checks that the service does not invent its results, before anything is made for it: no file of a month may come of them.
 * @throws SvcError `refused_input` at a sandbox server that accepts every token, unless the command is a rehearsal
 */
export async function requireRealResults(context: Context, again: readonly string[]): Promise<void> {
  const { baseUrl, sandbox } = context.settings;
  if (sandbox || baseUrl === undefined || !isLoopback(baseUrl.value)) return;
  const found = await readSandboxKey(await context.client(), 'private');
  if (found?.inventsResults !== true) return;
  throw new SvcError('refused_input', `the sandbox at ${baseUrl.value.origin} invents the results of tokens`, {
    hint: 'Nothing was prepared or submitted: a month must not have invented tokens. Rehearse it, or start the sandbox without --accept-tokens:',
    next: [...again, '--rehearse', '--profile', SANDBOX_PROFILE],
    alternatives: [['sandbox', 'start']],
  });
}

/**
 * Runs a rehearsal, which says what it is before and after everything else.
 * @throws SvcError what `work` throws, with commands that find what the rehearsal keeps
 */
export async function rehearse(
  { notices }: Context,
  again: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  notices.note(REHEARSAL_WARNING);
  try {
    await work();
  } catch (error) {
    throw isSvcError(error) ? withOwnCommands(error, again) : error;
  } finally {
    notices.note(REHEARSAL_WARNING);
  }
}

/** Commands that read files alone, so that they work for those of a rehearsal, too. */
const OF_FILES: ReadonlySet<string | undefined> = new Set(['check', 'report']);

function withOwnCommands(error: SvcError, again: readonly string[]): SvcError {
  const commands = error.commands.flatMap((words) => {
    const [, command] = words;
    if (command === 'refresh') return [words.includes('--rehearse') ? words : [...words, '--rehearse']];
    return OF_FILES.has(command) ? [words] : [];
  });
  const [next = again, ...alternatives] = commands;
  const hint = error.code === 'pending' ? 'Run the same command again later:' : error.hint;
  return error.with({ hint, next, alternatives });
}
