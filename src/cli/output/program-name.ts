import type { System } from '../../base/system.ts';

/** The name that begins a printed command: the one that was typed, because `svc` may be another program there. */
export function programName({ program }: Pick<System, 'program'>): string {
  return program ?? 'svc';
}

/** Writes the commands within a text with the name that was typed. Names of files and variables stay. */
export function withProgramName(text: string, system: Pick<System, 'program'>): string {
  return text.replaceAll(/(?<![\w./~$-])svc(?= [\w<'"-])/g, programName(system));
}
