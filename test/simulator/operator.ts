import type { Ended } from './process.ts';

/** The commands that a process printed for its operator, in the order printed, as words behind `svc`. */
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

/** A command that a person would type as it stands; one with a <gap> to fill in is none. */
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

/** Splits a line as a shell does, single and double quotes considered. */
function shellWords(line: string): string[] {
  const words = line.match(/(?:[^\s'"\\]|\\.|'[^']*'|"[^"]*")+/g) ?? [];
  return words.map((word) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"|\\(.)/g, (_all, single?: string, double?: string, plain?: string) =>
      String(single ?? double ?? plain),
    ),
  );
}
