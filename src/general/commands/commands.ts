import {
  type Command,
  commandsBehind,
  type CommandSpec,
  defineCommand,
  type Entry,
  exitCodesOf,
} from '../../cli/app/command.ts';
import { optionWords, type Parameter, type Parameters } from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch } from '../../cli/app/print.ts';
import { fieldPaths, simpleColumns, type View } from '../../cli/output/view.ts';

/** Returns the command `svc commands`. The caller passes the command tree and the global options. */
export function commandsCommand(tree: readonly Entry[], globals: Parameters): CommandSpec {
  return defineCommand({
    description: "The first row is 'svc' itself, with the options that every command takes.",
    examples: [
      ['svc commands', 'the commands and what they do'],
      ['svc commands -o json', 'the whole tree, for a program'],
    ],
    anySettings: true,
    paged: true,
    fields: commandView.fields,
    parameters: {},
    async run(context) {
      const print = await listPrinter(context, commandView);
      await print(oneBatch(await rows(tree, globals)));
    },
  });
}

async function rows(tree: readonly Entry[], globals: Parameters): Promise<CommandRow[]> {
  const root = { name: 'svc', summary: 'options that every command takes', examples: [], parameters: globals };
  const all = [row(root, 'svc', null)];
  for (const entry of tree) {
    for (const { words, command, shorter } of await commandsBehind(entry))
      all.push(row(command, `svc ${words}`, shorter === undefined ? null : `svc ${shorter}`));
  }
  return all;
}

function row(command: Omit<Command, 'run'>, words: string, shorter: string | null) {
  const parameters = Object.values(command.parameters);
  return {
    command: words,
    short_form: shorter,
    summary: command.summary,
    description: [command.description, command.details].filter(Boolean).join(' ') || null,
    arguments: parameters.filter(({ kind }) => kind === 'argument').map(parameterRow),
    options: parameters.filter(({ kind }) => kind !== 'argument').map(parameterRow),
    fields: command.fields ?? [],
    permissions: command.permissions ?? [],
    exit_codes: exitCodesOf(command),
    examples: command.examples.map(([line, does]) => ({ line, does })),
  };
}

function parameterRow(parameter: Parameter<unknown>) {
  const { kind, syntax, description, choices, environment } = parameter;
  const isArgument = kind === 'argument';
  const standard = kind === 'value' ? (parameter.default ?? null) : null;
  return {
    syntax,
    names: isArgument ? [] : optionWords(parameter),
    value: /[<[](.+)[>\]]/.exec(syntax)?.[1] ?? null,
    required: isArgument && syntax.startsWith('<'),
    repeatable: kind === 'repeated',
    description,
    choices: choices ?? [],
    default: standard,
    environment: environment?.split(', ') ?? [],
  };
}

/** A command as data: the typed words, and an equivalent with fewer words if there is one. */
export type CommandRow = ReturnType<typeof row>;

const commandView: View<CommandRow> = {
  name: 'command',
  fields: fieldPaths(`
    command short_form summary description arguments options fields permissions exit_codes examples
  `),
  columns: simpleColumns({ command: 'id', summary: 'text' }),
};
