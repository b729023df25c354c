import { SvcError } from '../../base/errors.ts';
import { nearest, questionOf, typedWord } from '../../base/security/typed-word.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { optionalArgument, suggesting, type Suggestion } from '../../cli/app/parameter.ts';
import { formatOf, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { trimmed } from '../../cli/app/value-parsers.ts';
import { type Meaning, meaningsOf, plainName, pluralOf } from '../../cli/glossary/glossary.ts';
import { programName } from '../../base/system.ts';
import { hangingIndent, wrapWords } from '../../cli/output/wrap.ts';
import type { View } from '../../cli/output/view.ts';

const meaningView: View<Meaning> = {
  name: 'meaning',
  fields: ['kind', 'name', 'code', 'also', 'means', 'liability', 'next', 'sandbox'],
  columns: [
    { path: 'name', kind: 'id' },
    { path: 'code', kind: 'id', priority: 0 },
    { path: 'kind', kind: 'text', priority: 1 },
    { path: 'means', kind: 'text', priority: 2 },
  ],
};

export const explain = defineCommand({
  description:
    "Explains result codes, statuses, reasons and codes of 3-D Secure, tenant settings, events, permissions, fields, limits, exit codes and error codes, offline. The name of a kind, such as 'exit codes', lists that kind; without a word all words are listed, and machine formats contain all explanations.",
  examples: [
    ['svc explain WRN_OPT_OUT', 'a result code'],
    ['svc explain update_existing', 'the value of a tenant setting'],
    ['svc explain 10', 'an exit code, and whatever else has this code'],
    ["svc explain 'exit codes'", 'all of one kind'],
  ],
  anySettings: true,
  paged: true,
  fields: meaningView.fields,
  parameters: {
    word: suggesting(
      async () => {
        const { EVERY_MEANING } = await import('../every-meaning.ts');
        const kinds = new Set(EVERY_MEANING.map(({ kind }) => pluralOf(kind)));
        return [
          ...EVERY_MEANING.map(({ name, kind }): Suggestion => [name, kind]),
          ...[...kinds].map((kind): Suggestion => [kind, 'all of this kind']),
        ];
      },
      optionalArgument('[word]', 'a value, code, field or limit, or a kind of them', trimmed),
    ),
  },
  async run(context, { word }) {
    const all = await everythingExplained();
    const found = word === undefined ? all : meaningsOf(word, all);
    if (word !== undefined && found.length === 0) throw unknownWord(word, all);
    const print = await listPrinter(context, meaningView);
    if (formatOf(context, 'list') !== 'table' || context.globals.fields !== undefined)
      return void (await print(oneBatch(found)));
    const parts = word === undefined ? indexOf(context, all) : found.map((meaning) => describe(context, meaning));
    await context.out.write(parts.join('\n'));
  },
});

/** Returns all meanings: of the glossary, and of the fields in the schema of an authenticate request. */
async function everythingExplained(): Promise<readonly Meaning[]> {
  const [{ EVERY_MEANING }, { BODY, fieldsBelow }] = await Promise.all([
    import('../every-meaning.ts'),
    import('../../schema/three-ds/fields.ts'),
  ]);
  const fields = fieldsBelow(BODY).map(({ path, description }): Meaning => {
    const means = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
    return { kind: 'field of an authenticate request', name: path, also: [path.replace(/^.*\./, '')], means };
  });
  return [...EVERY_MEANING, ...fields];
}

/** Returns the error for an unknown word, with the most similar name. */
function unknownWord(word: string, meanings: readonly Meaning[]): SvcError {
  const names = [...new Set(meanings.flatMap(({ name, kind, also = [] }) => [name, kind, ...also]))];
  const message = `svc explain does not know ${isPhrase(word) ? `"${word}"` : typedWord(word, names)}`;
  if (/^SVC_[A-Z_]{1,40}$/.test(word))
    return new SvcError('usage', message, {
      hint: 'The environment variables have a page of help:',
      next: ['help', 'environment'],
    });
  const plain = plainName(word);
  const containing = plain.length < 4 ? undefined : names.find((name) => plainName(name).includes(plain));
  const similar = nearest(plain, names.map(plainName));
  const meant = containing ?? names.find((name) => plainName(name) === similar);
  return new SvcError('usage', message, {
    hint: meant === undefined ? 'Without a word, the command lists all that it knows.' : questionOf(meant),
    next: ['explain', ...(meant === undefined ? [] : [meant])],
  });
}

/** Tells whether a text cannot be a secret: up to 40 letters, dots and spaces, and no word longer than 20. */
function isPhrase(text: string): boolean {
  return /^[a-z. ]{1,40}$/i.test(text) && text.split(/[. ]/).every((word) => word.length <= 20);
}

function indexOf({ palette, columns }: Context, meanings: readonly Meaning[]): string[] {
  const kinds = [...new Set(meanings.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const names = meanings.filter((meaning) => meaning.kind === kind).map(({ name }) => name);
    const lines = wrapWords(names.join(', '), columns() - 2);
    return `${palette.strong(kind)}\n${lines.map((line) => `  ${line}\n`).join('')}`;
  });
}

function describe(
  { palette, columns, system }: Context,
  { kind, name, code, means, liability, next, sandbox }: Meaning,
): string {
  const codes = code === undefined ? '' : `, ${kind === 'error code' ? 'exit code' : 'EMV code'} ${code}`;
  const head = hangingIndent(`${palette.strong(name)} `, name.length + 1, `(${kind}${codes})`, columns());
  const risk = liability === undefined ? [] : [`liability for fraud: ${liability}`];
  const todo = next === undefined ? [] : [`next: ${next}`];
  const trial = sandbox === undefined ? [] : [`to try it: ${programName(system)} sandbox outcome ${sandbox}:#1`];
  const lines = [means, ...risk, ...todo, ...trial].flatMap((text) => wrapWords(text, columns() - 2));
  return `${head}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
