import type { Globals } from './globals.ts';

type Named = Pick<Globals, 'sandbox' | 'profile' | 'baseUrl' | 'output' | 'fields' | 'jq' | 'time'>;

/**
 * A command line that can be pasted into a POSIX shell as it stands: with the service that was named on this one, and
 * with the form in which data was wanted.
 */
export function typedCommand(words: readonly string[], globals: Named): string {
  const { sandbox, profile, baseUrl, output, fields, jq, time } = globals;
  const service = [...(sandbox ? ['--sandbox'] : []), ...option('--profile', profile)];
  const form = [
    ...option('--output', output),
    ...option('--fields', fields),
    ...option('--jq', jq),
    ...option('--time', time),
  ];
  return ['svc', ...service, ...option('--base-url', baseUrl), ...words, ...form].map(shellWord).join(' ');
}

/** An option with its value, where it was given; once for each of several values. */
export function option(name: string, value: string | readonly string[] | undefined): string[] {
  const values = typeof value === 'string' ? [value] : (value ?? []);
  // A value that begins with a dash would be read as another option.
  return values.flatMap((one) => (one.startsWith('-') ? [`${name}=${one}`] : [name, one]));
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
