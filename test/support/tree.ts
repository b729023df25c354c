import { type Command, isGroup } from '../../src/app/command.ts';
import { TREE } from '../../src/commands/tree.ts';

/** A command, and the words that name it behind `svc`. */
export interface Named {
  readonly words: string;
  readonly command: Command;
}

/** Every command of the tree. */
export async function allCommands(): Promise<Named[]> {
  const nodes = await Promise.all(TREE.map(async (entry) => ({ entry, node: await entry.load() })));
  return nodes.flatMap(({ entry, node }) =>
    isGroup(node)
      ? node.commands.map((command) => ({ words: `${entry.name} ${command.name}`, command }))
      : [{ words: entry.name, command: node }],
  );
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
