import type { SvcError } from '../../base/errors.ts';
import { type System, withProgramName } from '../../base/system.ts';
import { directoryAdvice } from '../config/paths.ts';
import { failureOf } from '../output/error-report.ts';
import type { RunRequest } from './invocation.ts';

/**
 * Returns a failure with what only the command line knows: the help of the command, the option or the variable that helps,
 * and the name of the program. No other place changes the sentences of an error.
 */
export function advised(error: unknown, request: RunRequest | undefined, system: System): SvcError {
  const failure = failureOf(error);
  const { hint = '', next } = isAboutLine(failure) && request !== undefined ? helpOn(failure, request) : failure;
  const advice = optionAdvice(failure) ?? directoryAdvice(system, failure) ?? '';
  const text = withProgramName([hint, advice].filter(Boolean).join(' '), system);
  return text === (failure.hint ?? '') && next === failure.next
    ? failure
    : failure.with({ hint: text || undefined, next });
}

/** Whether an error is about the command line, and names no other command. */
function isAboutLine({ code, commands }: SvcError): boolean {
  return (code === 'usage' || code === 'input_needed') && commands.length === 0;
}

function helpOn({ message, hint }: SvcError, { words, command }: RunRequest): Pick<SvcError, 'hint' | 'next'> {
  const isForced = 'force' in command.parameters && message.endsWith(' exists');
  return {
    hint: isForced ? 'Give another name, or add --force to replace it.' : hint,
    next: [...words.split(' ').filter(Boolean), '--help'],
  };
}

const DAY_S = 86_400;

/** Returns advice that names an option; errors of the library know no options. */
export function optionAdvice({ code, facts }: SvcError): string | undefined {
  const missing = facts?.['missing'] ?? (code === 'key_missing' ? 'key' : undefined);
  // The sandbox has no bucket, so it cannot replace missing credentials of a store.
  if (missing === 'key' || missing === 'base_url') return 'To try svc without keys, add --sandbox.';
  if (code === 'bug') return 'Run the command again with --debug and include what it prints.';
  // A named column belongs to a CSV file; the column of a JSON error is a number.
  if (code === 'refused_input' && typeof facts?.['column'] === 'string')
    return 'Leave --excel-safe out, or choose the columns with --fields.';
  const seconds = code === 'rate_limited' ? facts?.['retry_after_s'] : undefined;
  const isAllowable = typeof seconds === 'number' && seconds <= DAY_S;
  return isAllowable ? `To allow the pause, add --max-wait ${seconds}s.` : undefined;
}
