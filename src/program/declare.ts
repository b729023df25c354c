import { Argument, type Command as Parser, Option } from 'commander';
import type { Parameter, Parameters } from '../cli/parameter.ts';
import { optionWords } from '../cli/parameter.ts';
import { isSvcError, SvcError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { typedWord } from '../security/typed-word.ts';

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
