import { commandsBehind, type CommandInTree } from '../../src/cli/app/command.ts';
import { TREE } from '../../src/tree.ts';

/** Returns every command of the tree. */
export async function allCommands(): Promise<CommandInTree[]> {
  return (await Promise.all(TREE.map((entry) => commandsBehind(entry)))).flat();
}

/** Returns the words of an example as a shell passes them to svc, without the other commands of its pipe. */
export function typedWords(line: string): string[] {
  const piped = line.split(' | ').find((part) => /^(\w+=\S+ )*svc /.test(part)) ?? line;
  return (
    piped
      // The output of an embedded command is always a hash.
      .replace(/"\$\(.*?\)"/, '0'.repeat(64))
      .replace(/^source <\((.*)\)$/, '$1')
      .replace(/^.*?\bsvc /, '')
      .replace(/ (\|\||[<>|]).*$/, '')
      .match(/(?:'[^']*'|"[^"]*"|[^' "])+/g)!
      .map((word) => word.replaceAll(/['"]/g, ''))
  );
}
