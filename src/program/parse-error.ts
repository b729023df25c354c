import { CommanderError } from 'commander';
import { isSvcError, SvcError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import type { Place } from './parse.ts';

/**
 * Puts the parser's errors into words that hold nothing of what was typed: a key pasted into the wrong
 * place must not be repeated (R05). Only names that the tool itself knows are suggested.
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
  return new SvcError('usage', 'there is no help on that', {
    hint:
      meant === undefined ? "'svc help' lists the commands and topics." : `Did you mean 'svc help ${meant}'?`,
  });
}

function wordsOf(error: CommanderError, place: Place): { message: string; suggestion: string | undefined } {
  const names = place.parser.commands.map((command) => command.name());
  const typed = place.parser.args[0] ?? '';
  switch (error.code) {
    case 'commander.unknownOption':
      return { message: `unknown option for '${place.words}'`, suggestion: suggested(error) };
    case 'commander.unknownCommand':
      return { message: `unknown command after '${place.words}'`, suggestion: nearest(typed, names) };
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
function excess(
  { parser, words }: Place,
  typed: string,
): { message: string; suggestion: string | undefined } {
  const siblings = parser.parent?.commands.map((command) => command.name()) ?? [];
  if (parser.registeredArguments.length > 0 || parser.parent?.parent === null) {
    return { message: `too many words after '${words}'`, suggestion: undefined };
  }
  const group = words.split(' ').slice(0, -1).join(' ');
  return { message: `unknown command after '${group}'`, suggestion: nearest(typed, siblings) };
}

// The parser's own suggestion is a name from the tree; the rest of its message repeats what was typed.
function suggested(error: CommanderError): string | undefined {
  return /\(Did you mean (?:one of )?(-[^,?)]+)/.exec(error.message)?.[1];
}
