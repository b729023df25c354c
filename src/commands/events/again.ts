/** What a replay command chooses by. */
export interface AgainChoice {
  readonly ids?: readonly string[] | undefined;
  readonly types?: readonly string[] | undefined;
  /** ISO 8601. */
  readonly since?: string | undefined;
}

/** The command that sends events of a journal again, ready to be pasted into a shell. */
export function replayCommand(
  journal: string,
  target: string,
  { ids = [], types = [], since }: AgainChoice,
): string {
  const words = ['svc', 'events', 'replay', journal, '--forward-to', target];
  for (const id of new Set(ids)) words.push('--id', id);
  for (const type of types) words.push('--type', type);
  if (since !== undefined) words.push('--since', since);
  return words.map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
