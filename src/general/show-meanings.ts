import { SvcError } from '../base/errors.ts';
import { nearest, questionOf, typedWord } from '../base/security/typed-word.ts';
import { explain, type Meaning, plainName } from '../cli/glossary/glossary.ts';
import { programName } from '../cli/output/program-name.ts';
import { hangingIndent, wrapWords } from '../cli/output/text.ts';
import type { View } from '../cli/output/view.ts';
import type { Context } from '../cli/app/command.ts';
import { formatOf, listPrinter, oneBatch } from '../cli/app/print.ts';

export const meaningView: View<Meaning> = {
  name: 'meaning',
  fields: ['kind', 'name', 'code', 'also', 'means', 'liability', 'next', 'sandbox'],
  columns: [
    { path: 'name', kind: 'id' },
    { path: 'code', kind: 'id', priority: 0 },
    { path: 'kind', kind: 'text', priority: 1 },
    { path: 'means', kind: 'text', priority: 2 },
  ],
};

/** Shows meanings: as data, or to people in sentences if `word` asked for them, and otherwise as an index of the words. */
export async function showMeanings(context: Context, meanings: readonly Meaning[], word?: string): Promise<void> {
  const print = await listPrinter(context, meaningView);
  if (formatOf(context, 'list') !== 'table' || context.globals.fields !== undefined) {
    await print(oneBatch(meanings));
    return;
  }
  const parts = word === undefined ? indexOf(context, meanings) : meanings.map((meaning) => describe(context, meaning));
  await context.out.write(parts.join('\n'));
}

/** Finds the meanings of a word. `command` is the command that explains it. @throws SvcError `usage` for an unknown word */
export function meaningsOf(word: string, meanings: readonly Meaning[], command: readonly string[]): Meaning[] {
  const found = explain(word, meanings);
  if (found.length > 0) return found;
  const names = [...new Set(meanings.flatMap(({ name, kind, also = [] }) => [name, kind, ...also]))];
  const plain = plainName(word);
  const containing = namesWith(plain, names);
  const meant = nearest(plain, names.map(plainName));
  const [first = names.find((name) => plainName(name) === meant)] = containing;
  const all = 'Without a word, the command lists all that it knows.';
  const others = `These names contain it: ${containing.join(', ')}.`;
  const guess = first === undefined || containing.length > 1 ? others : questionOf(first);
  const unknown = `svc explain does not know ${isPhrase(word) ? `"${word}"` : typedWord(word, names)}`;
  if (/^SVC_[A-Z_]{1,40}$/.test(word))
    throw new SvcError('usage', unknown, {
      hint: 'The environment variables have a page of help:',
      next: ['help', 'environment'],
    });
  throw new SvcError('usage', unknown, {
    hint: first === undefined ? all : guess,
    next: first === undefined ? command : [...command, first],
  });
}

/** Tells whether a text cannot be a secret: up to 40 letters, dots and blanks, and no word that is longer than 20. */
function isPhrase(text: string): boolean {
  return /^[a-z. ]{1,40}$/i.test(text) && text.split(/[. ]/).every((word) => word.length <= 20);
}

const MOST_NAMES = 8;

/** Returns the names that contain a part of at least four characters, the shortest first. */
function namesWith(part: string, names: readonly string[]): string[] {
  const found = part.length < 4 ? [] : names.filter((name) => plainName(name).includes(part));
  return found.toSorted((a, b) => a.length - b.length).slice(0, MOST_NAMES);
}

function indexOf({ palette, out }: Context, meanings: readonly Meaning[]): string[] {
  const columns = out.isTerminal ? out.width : Infinity;
  const kinds = [...new Set(meanings.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const names = meanings.filter((meaning) => meaning.kind === kind).map(({ name }) => name);
    const lines = wrapWords(names.join(', '), columns - 2);
    return `${palette.strong(kind)}\n${lines.map((line) => `  ${line}\n`).join('')}`;
  });
}

function describe(
  { palette, out, system }: Context,
  { kind, name, code, means, liability, next, sandbox }: Meaning,
): string {
  const columns = out.isTerminal ? out.width : Infinity;
  const codes = code === undefined ? '' : `, ${kind === 'error code' ? 'exit code' : 'EMV code'} ${code}`;
  const head = hangingIndent(`${palette.strong(name)} `, name.length + 1, `(${kind}${codes})`, columns);
  const risk = liability === undefined ? [] : [`liability for fraud: ${liability}`];
  const todo = next === undefined ? [] : [`next: ${next}`];
  const trial = sandbox === undefined ? [] : [`to try it: ${programName(system)} sandbox outcome ${sandbox}:#1`];
  const lines = [means, ...risk, ...todo, ...trial].flatMap((text) => wrapWords(text, columns - 2));
  return `${head}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
