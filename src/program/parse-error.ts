import { CommanderError } from 'commander';
import { isSvcError, SvcError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { typedOption, typedWord } from '../security/typed-word.ts';
import type { Place } from './parse.ts';

/**
 * Puts the parser's errors into words that repeat what was typed only where it cannot be a secret: a key pasted into
 * the wrong place must not show (R05). Only names that the tool itself knows are suggested.
 */
export function parseError(error: unknown, place: Place): unknown {
  const seeHelp = `See '${place.words} --help'.`;
  if (isSvcError(error, 'usage'))
    return new SvcError('usage', error.message, { hint: error.hint ?? seeHelp });
  if (!(error instanceof CommanderError)) return error;
  const { message, suggestion } = wordsOf(error, place);
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

function wordsOf(error: CommanderError, place: Place): Words {
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
function excess({ parser, words }: Place, typed: string): Words {
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

function unknownOption(error: CommanderError, { parser, words }: Place): Words {
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
