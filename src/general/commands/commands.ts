import { SvcError } from '../../base/errors.ts';
import { nearest, questionOf, typedWord } from '../../base/security/typed-word.ts';
import {
  type Command,
  type CommandInTree,
  commandsBehind,
  type CommandSpec,
  defineCommand,
  type Entry,
  exitCodesOf,
} from '../../cli/app/command.ts';
import {
  flag,
  optionalRest,
  optionWords,
  type Parameter,
  type Parameters,
  suggesting,
  type Suggestion,
} from '../../cli/app/parameter.ts';
import { listPrinter, oneBatch, withDefaultFormat } from '../../cli/app/print.ts';
import { fieldPaths, simpleColumns, type View } from '../../cli/output/view.ts';
import type { JsonSchema } from '../../schema/json-schema.ts';
import { commandsAt, walk } from '../completion/complete.ts';

/** Returns the command `svc commands`, for a command tree and the global options. */
export function commandsCommand(tree: readonly Entry[], globals: Parameters): CommandSpec {
  return defineCommand({
    description:
      "With words, prints only the commands that begin with them. Without words, the first row is 'svc' itself, with the options that every command takes. --schema prints JSON Schemas of what is typed and of one row of the output.",
    examples: [
      ['svc commands', 'the commands and what they do'],
      ['svc commands au submit -o json', 'one command, for a program'],
      ['svc commands logs list --schema', 'its options and its rows as JSON Schema'],
      ['svc commands -o json', 'the whole tree, for a program'],
    ],
    anySettings: true,
    paged: true,
    fields: [...commandView.fields, 'row'],
    parameters: {
      words: suggesting(
        (typed) => wordsAfter(tree, typed),
        optionalRest('[command...]', 'only commands that begin with these words'),
      ),
      schema: flag('--schema', 'print JSON Schemas of the options and of a row'),
    },
    async run(context, { words, schema }) {
      const chosen = await chosenCommands(tree, globals, words);
      if (!schema) {
        const print = await listPrinter(context, commandView);
        return void (await print(oneBatch(chosen.map(row))));
      }
      // A table cannot show a schema.
      const print = await listPrinter(withDefaultFormat(context, 'json'), schemaView);
      const { rowSchema } = await import('../row-schema.ts');
      const schemas = chosen.map(async ({ words: name, command }) => ({
        command: name === '' ? 'svc' : `svc ${name}`,
        options: optionsSchema(command.parameters),
        row: (await rowSchema(name, command.fields)) ?? null,
      }));
      await print(oneBatch(await Promise.all(schemas)));
    },
  });
}

interface Chosen extends Omit<CommandInTree, 'command'> {
  readonly command: Omit<Command, 'run'>;
}

/** Returns the commands that begin with the typed words, the last of which may be incomplete; all commands without words. */
async function chosenCommands(
  tree: readonly Entry[],
  globals: Parameters,
  typed: readonly string[],
): Promise<Chosen[]> {
  const all = (await Promise.all(tree.map((entry) => commandsBehind(entry)))).flat();
  const root = { name: 'svc', summary: 'options that every command takes', examples: [], parameters: globals };
  const prefix = typed
    .join(' ')
    .trim()
    .replace(/^svc(?: |$)/, '');
  if (prefix === '') return [{ words: '', command: root }, ...all];
  const whole = all.filter(({ words }) => words === prefix || words.startsWith(`${prefix} `));
  const found = whole.length > 0 ? whole : all.filter(({ words }) => words.startsWith(prefix));
  if (found.length > 0) return found;
  const names = all.flatMap(({ words }) => [words, words.replace(/ .*/, '')]);
  const meant = nearest(prefix, names);
  throw new SvcError('usage', `no command begins with ${typedWord(prefix, names)}`, {
    hint: meant === undefined ? 'All commands are listed without a word.' : questionOf(meant),
    next: ['commands', ...(meant === undefined ? [] : meant.split(' '))],
  });
}

/** Returns the words that can follow typed words, for completion. */
async function wordsAfter(tree: readonly Entry[], typed: readonly string[]): Promise<Suggestion[]> {
  return commandsAt(await walk({ tree, globals: {} }, typed));
}

/** Returns a JSON Schema of the options and arguments of a command, as an object with their long names. */
function optionsSchema(parameters: Parameters): JsonSchema {
  const named = Object.values(parameters).map((parameter) => ({ name: nameOf(parameter), parameter }));
  const required = named.filter(({ parameter }) => isRequired(parameter)).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(named.map(({ name, parameter }) => [name, parameterSchema(parameter)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function nameOf(parameter: Parameter<unknown>): string {
  const long = optionWords(parameter).find((word) => word.startsWith('--'));
  return long?.slice(2) ?? parameter.syntax.replaceAll(/[<>[\].]/g, '');
}

function parameterSchema({ kind, syntax, choices, default: standard, ...parameter }: Parameter<unknown>): JsonSchema {
  // The asterisk at the end of a description is only explained in help.
  const description = parameter.description.replace(/ \*$/, '');
  const value = { type: 'string', ...(choices && { enum: choices }) };
  const isList = kind === 'repeated' || syntax.includes('...');
  if (kind === 'flag') return { description, type: 'boolean', default: false };
  if (isList) return { description, type: 'array', items: value };
  return { description, ...value, ...(standard !== undefined && { default: standard }) };
}

function isRequired({ kind, syntax }: Parameter<unknown>): boolean {
  return kind === 'argument' && syntax.startsWith('<');
}

function row({ words, command, shorter }: Chosen) {
  const parameters = Object.values(command.parameters);
  return {
    command: words === '' ? 'svc' : `svc ${words}`,
    short_form: shorter === undefined ? null : `svc ${shorter}`,
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
    required: isRequired(parameter),
    repeatable: kind === 'repeated',
    description,
    choices: choices ?? [],
    default: standard,
    environment: environment?.split(', ') ?? [],
  };
}

/** A command as data. */
export type CommandRow = ReturnType<typeof row>;

const schemaView: View = {
  name: 'schema',
  fields: ['command', 'options', 'row'],
  columns: simpleColumns({ command: 'id', options: 'text', row: 'text' }),
};

const commandView: View<CommandRow> = {
  name: 'command',
  fields: fieldPaths(`
    command short_form summary description arguments options fields permissions exit_codes examples
  `),
  columns: simpleColumns({ command: 'id', summary: 'text' }),
};
