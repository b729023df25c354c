import { commandsBehind, type CommandInTree } from '../../src/cli/app/command.ts';
import { TREE } from '../../src/tree.ts';

/** Every command of the tree. */
export async function allCommands(): Promise<CommandInTree[]> {
  return (await Promise.all(TREE.map((entry) => commandsBehind(entry)))).flat();
}

/** The words of an example as a shell gives them to svc, without what it is piped into or from. */
export function typedWords(line: string): string[] {
  const piped = line.split(' | ').find((part) => /^(\w+=\S+ )*svc /.test(part)) ?? line;
  return (
    piped
      // What a command in it would print: some hash.
      .replace(/"\$\(.*?\)"/, '0'.repeat(64))
      .replace(/^source <\((.*)\)$/, '$1')
      .replace(/^.*?\bsvc /, '')
      .replace(/ (\|\||[<>|]).*$/, '')
      .match(/(?:'[^']*'|"[^"]*"|[^' "])+/g)!
      .map((word) => word.replaceAll(/['"]/g, ''))
  );
}
