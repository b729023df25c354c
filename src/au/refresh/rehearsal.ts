// `svc au refresh --rehearse`: a refresh in the embedded sandbox, whose invented results must never reach a real cycle.

import path from 'node:path';
import { isSvcError, SvcError } from '../../base/errors.ts';
import type { Context } from '../../cli/app/command.ts';
import { isEmbeddedSandbox } from '../../cli/app/service.ts';
import { SANDBOX_PROFILE } from '../../cli/config/values.ts';
import { readSandboxKey } from '../../client/api/sandbox-key.ts';
import { REHEARSAL_WARNING } from '../../schema/account-updater-files.ts';
import { isLoopback } from '../../schema/address.ts';

/** The directory of all rehearsed cycles. */
const REHEARSALS = 'rehearsal';

/** The state directory of all rehearsals. No cycle has a name that begins with a dot. */
export const REHEARSAL_STATE = path.join(REHEARSALS, '.state');

/** Returns the default directory of all cycles. A sandbox has its own, so that its results exclude no real card. */
export function usualParent(context: Context): string {
  if (context.isRehearsal) return REHEARSALS;
  return isEmbeddedSandbox(context) ? 'refresh-sandbox' : 'refresh';
}

/** The options that a rehearsal refuses. */
interface RefusedOptions {
  readonly outDir: string | undefined;
  readonly dryRun: boolean;
}

/** Checks that a rehearsal uses the embedded sandbox and its own directory. @throws SvcError `usage` */
export function requireRehearsal(
  { settings: { sandbox, baseUrl } }: Context,
  { outDir, dryRun }: RefusedOptions,
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
 * Checks before anything is prepared that the service does not invent its results.
 * @throws SvcError `refused_input` for a sandbox server that accepts every token
 */
export async function requireRealResults(context: Context, again: readonly string[]): Promise<void> {
  const { baseUrl, sandbox } = context.settings;
  if (sandbox || baseUrl === undefined || !isLoopback(baseUrl.value)) return;
  const sandboxKey = await readSandboxKey(await context.client(), 'private');
  if (sandboxKey?.inventsResults !== true) return;
  throw new SvcError('refused_input', `the sandbox at ${baseUrl.value.origin} invents the results of tokens`, {
    hint: 'Nothing was prepared or submitted: a month must not have invented tokens. Rehearse it, or start the sandbox without --accept-tokens:',
    next: [...again, '--rehearse', '--profile', SANDBOX_PROFILE],
    alternatives: [['sandbox', 'start']],
  });
}

/**
 * Runs a rehearsal, with a warning before and after all other notes.
 * @throws SvcError of `work`, with suggested commands that work for a rehearsal
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
    throw isSvcError(error) ? withRehearsalCommands(error, again) : error;
  } finally {
    notices.note(REHEARSAL_WARNING);
  }
}

/** Commands that only read files, so that they work for a rehearsal too. */
const FILE_COMMANDS: ReadonlySet<string | undefined> = new Set(['check', 'report']);

/** Keeps the suggested commands that work for a rehearsal, with `--rehearse` where they need it. */
function withRehearsalCommands(error: SvcError, again: readonly string[]): SvcError {
  const commands = error.commands.flatMap((words) => {
    const [, command] = words;
    if (command === 'refresh') return [words.includes('--rehearse') ? words : [...words, '--rehearse']];
    return FILE_COMMANDS.has(command) ? [words] : [];
  });
  const [next = again, ...alternatives] = commands;
  const hint = error.code === 'pending' ? 'Run the same command again later:' : error.hint;
  return error.with({ hint, next, alternatives });
}
