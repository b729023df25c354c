import { Argument, type Command as Parser, CommanderError, Option } from 'commander';
import { isSvcError, SvcError } from '../errors.ts';
import { nearest, typedOption, typedWord } from '../security/typed-word.ts';
import { optionWords, type Parameter, type Parameters } from './parameter.ts';
import type { ParsePosition } from './run.ts';

/** Declares parameters to the parser. Their own parsers check every value; the parser's words never show. */
export function addParameters(parser: Parser, parameters: Parameters): void {
  for (const parameter of Object.values(parameters)) {
    if (parameter.kind === 'argument') parser.addArgument(toArgument(parameter));
    else parser.addOption(toOption(parameter));
  }
}

/** What was typed, by the names that the parameters have in the tool. */
export function readInput(parser: Parser, parameters: Parameters): Record<string, unknown> {
  const options = parser.opts<Record<string, unknown>>();
  const positional = [...(parser.processedArgs as unknown[])];
  const entries = Object.entries(parameters).map(([name, parameter]) => {
    if (parameter.kind === 'argument') return [name, positional.shift()] as const;
    const option = toOption(parameter);
    const typed = options[option.attributeName()];
    return [name, option.negate ? typed === false : (typed ?? parameter.default)] as const;
  });
  return Object.fromEntries(entries);
}

function toArgument(parameter: Parameter<unknown>): Argument {
  const read = checked(parameter, parameter.syntax);
  const argument = new Argument(parameter.syntax, parameter.description);
  return argument.variadic
    ? argument.argParser(gathered(read))
    : argument.argParser<unknown>((text) => read(text));
}

function toOption(parameter: Parameter<unknown>): Option {
  const option = new Option(parameter.syntax, parameter.description);
  if (parameter.kind === 'flag') return option;
  const read = checked(parameter, optionWords(parameter).at(-1) ?? '');
  if (parameter.kind === 'value') return option.argParser<unknown>((text) => read(text));
  return option.argParser(gathered(read));
}

function gathered(read: (text: string) => unknown): (text: string, before: unknown) => unknown[] {
  return (text, before) => [...(Array.isArray(before) ? before : []), read(text)];
}

function checked(parameter: Parameter<unknown>, name: string): (text: string) => unknown {
  return (text) => {
    if (parameter.choices && !parameter.choices.includes(text))
      throw choiceError(name, text, parameter.choices);
    try {
      return parameter.parse(text);
    } catch (error) {
      if (!isSvcError(error, 'usage')) throw error;
      throw new SvcError('usage', `${name} ${error.message}`, { hint: error.hint });
    }
  };
}

function choiceError(name: string, text: string, choices: readonly string[]): SvcError {
  const meant = nearest(text, choices);
  const word = typedWord(text, choices);
  return new SvcError('usage', `${name} must be one of ${choices.join(', ')}, not ${word}`, {
    hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
  });
}

/**
 * Puts the parser's errors into words that repeat what was typed only where it cannot be a secret: a key pasted into
 * the wrong place must not show (R05). Only names that the tool itself knows are suggested.
 */
export function parseError(error: unknown, place: ParsePosition): unknown {
  const seeHelp = `See '${place.words} --help'.`;
  if (isSvcError(error, 'usage'))
    return new SvcError('usage', error.message, { hint: error.hint ?? seeHelp });
  if (!(error instanceof CommanderError)) return error;
  const { message, suggestion } = messageOf(error, place);
  return new SvcError('usage', message, {
    hint: suggestion === undefined ? seeHelp : `Did you mean '${suggestion}'? ${seeHelp}`,
  });
}

/** The error for help on what is neither a command nor a topic. */
export function noHelpOn(typed: string, names: readonly string[]): SvcError {
  const meant = nearest(typed, names);
  return new SvcError('usage', `no help topic ${typedWord(typed, names)}`, {
    hint:
      meant === undefined ? "'svc help' lists the commands and topics." : `Did you mean 'svc help ${meant}'?`,
  });
}

interface Words {
  readonly message: string;
  readonly suggestion: string | undefined;
}

function messageOf(error: CommanderError, place: ParsePosition): Words {
  const names = place.parser.commands.map((command) => command.name());
  const typed = place.parser.args[0] ?? '';
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownOption(error, place);
    case 'commander.unknownCommand':
      return unknownCommand(typed, names, place.words);
    case 'commander.excessArguments':
      return excess(place, typed);
    case 'commander.missingArgument':
    case 'commander.optionMissingArgument':
      return { message: error.message.replace(/^error: /, ''), suggestion: undefined };
    default:
      return { message: 'the command line could not be understood', suggestion: undefined };
  }
}

// A group's default command takes no arguments: what looks like one is a mistyped command.
function excess({ parser, words }: ParsePosition, typed: string): Words {
  const siblings = parser.parent?.commands.map((command) => command.name()) ?? [];
  if (parser.registeredArguments.length > 0 || parser.parent?.parent === null) {
    const extra = typedWord(parser.args[parser.registeredArguments.length] ?? '');
    return { message: `unexpected argument ${extra} for '${words}'`, suggestion: undefined };
  }
  return unknownCommand(typed, siblings, words.split(' ').slice(0, -1).join(' '));
}

function unknownCommand(typed: string, names: readonly string[], group: string): Words {
  const word = typedWord(typed, names);
  return {
    message: group === 'svc' ? `unknown command ${word}` : `unknown command ${word} for '${group}'`,
    suggestion: nearest(typed, names),
  };
}

function unknownOption(error: CommanderError, { parser, words }: ParsePosition): Words {
  const typed = /unknown option '([^']*)'/.exec(error.message)?.[1] ?? '';
  const known = parser.options.flatMap(({ short, long }) => [short ?? '', long ?? '']);
  return {
    message: `unknown option ${typedOption(typed, known)} for '${words}'`,
    suggestion: suggested(error),
  };
}

// The parser's own suggestion is a name from the tree; the rest of its message repeats what was typed.
function suggested(error: CommanderError): string | undefined {
  return /\(Did you mean (?:one of )?(-[^,?)]+)/.exec(error.message)?.[1];
}
