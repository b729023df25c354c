import { SvcError } from '../errors.ts';
import { nearest } from '../nearest.ts';

/**
 * jq's words about an expression, without what was typed: a key in the wrong place must not be repeated. Only names
 * that jq itself has are suggested. `builtins` as jq lists them: `map/1`.
 */
export function compileError(stderr: string, builtins: readonly string[]): SvcError {
  const { problem, hint } = explained(stderr.replace(/^jq: error: /, '').split('\n')[0] ?? '', builtins);
  return new SvcError('usage', `--jq must be a jq expression: ${problem}`, {
    hint: hint ?? "Such as '.id', or 'select(.status == \"failed\") | .id'; see 'svc help output'.",
  });
}

function explained(line: string, builtins: readonly string[]): { problem: string; hint?: string } {
  const [, name, arity] = /^([\w:]+)\/(\d+) is not defined/.exec(line) ?? [];
  if (name !== undefined) return unknownFunction(name, Number(arity), builtins);
  if (/^\$[\w:*-]+ is not defined/.test(line))
    return { problem: 'it uses a variable that it does not define' };
  const [, unexpected] = /^syntax error, unexpected ('.'|end of file|\w+)/.exec(line) ?? [];
  if (unexpected === undefined) return { problem: 'jq cannot make sense of it' };
  return { problem: `syntax error at ${named(unexpected)}` };
}

function unknownFunction(
  name: string,
  arity: number,
  builtins: readonly string[],
): { problem: string; hint?: string } {
  const known = builtins.map((each) => each.split('/'));
  const same = known.filter(([each]) => each === name).map(([, count]) => count);
  if (same.length > 0) return { problem: `${name} takes ${same.join(' or ')} arguments, not ${arity}` };
  const meant = nearest(
    name,
    known.map(([each = '']) => each),
  );
  const problem = 'it calls a function that jq does not have';
  return meant === undefined
    ? { problem, hint: `A field begins with a dot: '.id'. A text is in double quotes.` }
    : { problem, hint: `Did you mean '${meant}'?` };
}

// Kinds of words, in jq's grammar, which hold nothing of what was typed.
function named(token: string): string {
  const kinds: Readonly<Record<string, string>> = {
    IDENT: 'a name',
    FIELD: 'a field',
    LITERAL: 'a number',
    BINDING: 'a variable',
    INVALID_CHARACTER: 'a character that cannot stand there',
    QQSTRING_START: 'a text',
    QQSTRING_TEXT: 'a text',
    end: 'its end',
  };
  return kinds[token] ?? token;
}
