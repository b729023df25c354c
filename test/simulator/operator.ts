import type { Ended } from './process.ts';

/** Returns the commands that a process printed for its operator, in order, each as the words after `svc`. */
export function printedCommands({ stderr }: Pick<Ended, 'stderr'>): string[][] {
  return stderr.split('\n').flatMap((line) => {
    const report = reportIn(line);
    if (report === undefined) return commandIn(line.trim()) ?? [];
    const next = [report.next ?? '', ...(report.alternatives ?? [])].flatMap((command) => commandIn(command) ?? []);
    const quoted = [...(report.hint ?? '').matchAll(/'(svc [^']*)'/g)].flatMap(
      ([, command = '']) => commandIn(command) ?? [],
    );
    return next.concat(quoted);
  });
}

/** Returns the command in a text; undefined if there is none, or if it has a <gap> to fill in. */
function commandIn(text: string): string[][] | undefined {
  if (!text.startsWith('svc ') || text.includes('<') || text.includes('…')) return undefined;
  return [shellWords(text).slice(1)];
}

interface Report {
  readonly hint?: string;
  readonly next?: string;
  readonly alternatives?: readonly string[];
}

function reportIn(line: string): Report | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Report;
  } catch {
    return undefined;
  }
}

/** Splits a line into words as a shell does, with its rules for quotes and backslashes. */
function shellWords(line: string): string[] {
  const words = line.match(/(?:[^\s'"\\]|\\.|'[^']*'|"[^"]*")+/g) ?? [];
  return words.map((word) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"|\\(.)/g, (_all, single?: string, double?: string, plain?: string) =>
      String(single ?? double ?? plain),
    ),
  );
}
