import { SvcError } from '../../base/errors.ts';
import { typedWord } from '../../base/security/typed-word.ts';
import { type Context, defineCommand } from '../../cli/app/command.ts';
import { optionalArgument, suggesting } from '../../cli/app/parameter.ts';
import { formatOf, listPrinter, oneBatch } from '../../cli/app/print.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { hangingIndent, wrapWords } from '../../cli/output/text.ts';
import type { View } from '../../cli/output/view.ts';
import type { Meaning } from '../explain.ts';
const meaningView: View<Meaning> = {
  name: 'meaning',
  fields: ['kind', 'name', 'code', 'means', 'liability', 'next', 'sandbox'],
  columns: [
    { path: 'name', kind: 'id' },
    { path: 'code', kind: 'id' },
    { path: 'kind', kind: 'text', priority: 1 },
    { path: 'means', kind: 'text', priority: 2 },
  ],
};

export const explain = defineCommand({
  description: 'A code can have several meanings: all are shown. Without a word, everything is listed. Works offline.',
  examples: [
    ['svc 3ds explain attempted', 'a status'],
    ['svc 3ds explain 01', 'a code, in every meaning that it has'],
    ['svc 3ds explain', 'every status, reason, preference and code'],
  ],
  paged: true,
  fields: meaningView.fields,
  parameters: {
    word: suggesting(
      async () => (await import('../explain.ts')).MEANINGS.map(({ name, kind }) => [name, kind]),
      optionalArgument('[status|reason|code]', 'a value of a response, or its EMV code', text),
    ),
  },
  async run(context, { word }) {
    const print = await listPrinter(context, meaningView);
    const { explain: meaningsFor, MEANINGS } = await import('../explain.ts');
    const found = word === undefined ? MEANINGS : meaningsFor(word);
    if (found.length === 0) throw await unknownWord(word ?? '');
    if (word === undefined || formatOf(context, 'list') !== 'table' || context.globals.fields !== undefined) {
      await print(oneBatch(found));
      return;
    }
    await context.out.write(found.map((meaning) => describe(context, meaning)).join('\n'));
  },
});

async function unknownWord(word: string): Promise<SvcError> {
  const { meantName, MEANINGS } = await import('../explain.ts');
  const names = MEANINGS.map(({ name }) => name);
  const meant = meantName(word);
  return new SvcError('usage', `unknown status, reason or code ${typedWord(word, names)}`, {
    hint: meant === undefined ? 'All of them are listed without a word.' : `Did you mean '${meant}'?`,
    next: meant === undefined ? ['3ds', 'explain'] : undefined,
  });
}

function describe({ palette, out }: Context, { kind, name, code, means, liability, next, sandbox }: Meaning): string {
  const columns = out.isTerminal ? out.width : Infinity;
  const kinds = `(${kind}${code === undefined ? '' : `, EMV code ${code}`})`;
  const head = hangingIndent(`${palette.strong(name)} `, name.length + 1, kinds, columns);
  const risk = liability === undefined ? [] : [`liability for fraud: ${liability}`];
  const trial = sandbox === undefined ? [] : [`to try it: svc sandbox outcome ${sandbox}:#1`];
  const lines = [means, ...risk, `next: ${next}`, ...trial].flatMap((text) => wrapWords(text, columns - 2));
  return `${head}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
