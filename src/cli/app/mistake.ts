// Explains mistakes in the command line: what was wrong, and what the operator probably meant.

import { type Command as Parser, CommanderError } from 'commander';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { nearest, questionOf, typedOption, typedWord } from '../../base/security/typed-word.ts';
import { ownMember } from '../../schema/own-member.ts';
import { type Entry, isGroup, type OtherTools } from './command.ts';
import { GLOBAL_PARAMETERS } from './global-parameters.ts';
import { COMMAND_TO_RUN, nameOf, optionWords, type Parameters, PUT_AFTER_DASHES } from './parameter.ts';

/** The position at which the parser stopped. */
interface Place {
  readonly tree: readonly Entry[];
  /** The words of the command that the parser reached, starting with `svc`. */
  readonly words: string;
  readonly parser: Parser;
  /** The parameters of the command, if the parser has reached one. */
  readonly parameters: Parameters;
  readonly argv: readonly string[];
  readonly otherTools: OtherTools;
}

interface Mistake {
  readonly message: string;
  /** What the operator probably meant to type. */
  readonly meant?: string | undefined;
  readonly hint?: string | undefined;
  /** The words of the command whose help explains more. */
  readonly help?: readonly string[];
  /** The command to try, instead of that help. */
  readonly next?: readonly string[];
}

/**
 * Rewrites the parser's errors. Messages repeat typed text only if it cannot be a secret, because a key pasted into the
 * wrong place must not be shown (R05). Suggestions contain only names that svc knows.
 */
export async function explainMistake(error: unknown, place: Place): Promise<unknown> {
  const path = await typedPath(place);
  if (isSvcError(error, 'usage')) return error.with({ next: error.next ?? [...path, '--help'] });
  if (!(error instanceof CommanderError)) return error;
  const { message, meant, help = path, hint = meant && questionOf(meant), next } = describe(error, place);
  return new SvcError('usage', message, { hint, next: next ?? [...help, '--help'] });
}

function describe(error: CommanderError, place: Place): Mistake {
  const { parser, words } = place;
  const unknown = wordOfGroup(place);
  switch (error.code) {
    case 'commander.unknownOption':
      return unknown ?? unknownOption(error, place);
    case 'commander.unknownCommand':
      return unknownCommand(parser.args[0] ?? '', words, parser, place);
    case 'commander.excessArguments':
      return unknown ?? extraArgument(place);
    case 'commander.invalidArgument':
      return invalidChoice(error);
    case 'commander.missingArgument':
      return missingArgument(error, place);
    case 'commander.optionMissingArgument':
      return missingValue(error, place);
    default:
      return { message: 'the command line could not be understood' };
  }
}

/**
 * Returns the words of the typed command, without a default command that was not typed. Searches the typed words if the
 * parser failed at a global option, before it reached the command.
 */
async function typedPath({ words, tree, argv }: Place): Promise<string[]> {
  const path = words.split(' ').slice(1);
  if (path.length > 0) return argv.includes(path.at(-1) ?? '') ? path : path.slice(0, -1);
  let entries = tree;
  for (const word of argv) {
    const entry = entries.find(({ name }) => name === word);
    if (entry === undefined) continue;
    path.push(entry.name);
    const node = await entry.load();
    entries = isGroup(node) ? node.commands : [];
  }
  return path;
}

/** Explains a mistyped command that was taken for an argument of the group's default command, which takes none. */
function wordOfGroup(place: Place): Mistake | undefined {
  const { parser, words, argv } = place;
  const [word = '-'] = parser.args;
  const group = parser.parent;
  const isDefault = parser.registeredArguments.length === 0 && group?.parent && !argv.includes(parser.name());
  if (!isDefault || word.startsWith('-')) return undefined;
  return unknownCommand(word, words.replace(/ \S+$/, ''), group, place);
}

function unknownCommand(word: string, words: string, group: Parser, { tree, otherTools }: Place): Mistake {
  const path = words.split(' ').slice(1);
  const names = group.commands.map((command) => command.name());
  const message = `unknown command ${typedWord(word, names)}${path.length === 0 ? '' : ` for '${words}'`}`;
  const other = ownMember(otherTools.commands, [...path, word].join(' '));
  if (other !== undefined) return { message, meant: `svc ${other}`, help: other.split(' ') };
  const meant = nearest(word, names);
  const isWord = meant !== undefined && (path.length > 0 || tree.some(({ name }) => name === meant));
  return { message, meant, help: isWord ? [...path, meant] : path };
}

/** Key options of other tools. svc has none: every user of the machine can read a command line. */
const KEY_OPTIONS: readonly string[] = [
  '--key',
  '--api-key',
  '--management-key',
  '--private-key',
  '--token',
  '--secret',
  '--password',
];

function unknownOption({ message: text }: CommanderError, place: Place): Mistake {
  const { parameters, parser, words, otherTools } = place;
  const [name = ''] = (/unknown option '([^']*)/.exec(text)?.[1] ?? '').split('=');
  const own = words === 'svc' ? ['--help', '--version'] : ['--help'];
  const known = [...own, ...Object.values({ ...parameters, ...GLOBAL_PARAMETERS }).flatMap(optionWords)];
  if (known.includes(name)) return { message: `${name} takes no value` };
  const others = Object.keys(otherTools.options);
  const message = `unknown option ${typedOption(name, [...known, ...KEY_OPTIONS, ...others])} for '${words}'`;
  const takesCommand = Object.values(parameters).some(({ syntax }) => syntax === COMMAND_TO_RUN);
  if (takesCommand && parser.args[0]?.startsWith('-') === false)
    return { message, hint: PUT_AFTER_DASHES, next: [...words.split(' ').slice(1), '--', COMMAND_TO_RUN] };
  if (KEY_OPTIONS.includes(name))
    return { message, hint: 'No option takes a key, because process lists show options.', help: ['login'] };
  const other = ownMember(otherTools.options, name);
  const isKnown = other !== undefined && known.includes(other.split(' ', 1).join(''));
  // One changed letter turns any one-letter option into any other, so its suggestion differs only in case.
  return { message, meant: isKnown ? other : nearest(name, known, name.length <= 2 ? 0 : undefined) };
}

function extraArgument({ parser, parameters, words }: Place): Mistake {
  const taken = Object.values(parameters).filter(({ kind }) => kind === 'argument');
  const message = `unexpected argument ${typedWord(parser.args[taken.length] ?? '')} for '${words}'`;
  const [only, ...others] = taken;
  // A shell turns *.csv into several files.
  const isOneFile = only?.file === 'read' && others.length === 0;
  return { message, hint: isOneFile ? `It takes one <${nameOf(only.syntax)}>: run it once for each.` : undefined };
}

const INVALID_CHOICE =
  /^error: (?:option '(?:-\w, )?(\S+).*?' argument|command-argument value) '(.*)' is invalid(?: for argument '(.*)')?\. Allowed choices are (.*)\.$/s;

function invalidChoice({ message }: CommanderError): Mistake {
  const [, option, typed = '', argument = '', list = ''] = INVALID_CHOICE.exec(message) ?? [];
  const choices = list.split(', ');
  return {
    message: `${option ?? `<${argument}>`} must be one of ${list}, not ${typedWord(typed, choices)}`,
    meant: nearest(typed, choices),
  };
}

function missingArgument({ message }: CommanderError, { parameters }: Place): Mistake {
  const name = /argument '(.*)'$/.exec(message)?.[1] ?? '';
  const found = Object.values(parameters).find(({ syntax }) => syntax.replace(/\.\.\.>$/, '>') === `<${name}>`);
  if (found === undefined) return { message: message.replace(/^error: /, '') };
  const choices = found.choices && `Choose one of: ${found.choices.join(', ')}.`;
  return { message: `${found.syntax} is missing: ${found.description}`, hint: choices };
}

function missingValue({ message }: CommanderError, { parameters }: Place): Mistake {
  const syntax = /option '(.*)' argument missing$/.exec(message)?.[1] ?? '';
  const found = Object.values({ ...parameters, ...GLOBAL_PARAMETERS }).find((one) => one.syntax === syntax);
  if (found === undefined) return { message: message.replace(/^error: /, '') };
  const name = nameOf(syntax);
  const values = found.choices?.join(', ') ?? found.description;
  return { message: `${optionWords(found).at(-1)} needs ${/^[aeio]|^n$/.test(name) ? 'an' : 'a'} ${name}: ${values}` };
}
