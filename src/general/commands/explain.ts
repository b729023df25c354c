import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { meaningsOf, meaningView, showMeanings } from '../../cli/app/explanation.ts';
import { flag, optionalArgument, suggesting, value } from '../../cli/app/parameter.ts';
import { requireFile, resolvePath } from '../../cli/app/typed-path.ts';
import { text } from '../../cli/app/value-parsers.ts';
import type { Meaning } from '../../cli/glossary/glossary.ts';

export const explain = defineCommand({
  description:
    "Explains result codes, statuses, reasons and codes of 3-D Secure, tenant settings, events, permissions, fields, limits, exit codes and error codes, offline. The name of a kind, such as 'exit codes', lists that kind; without a word all words are listed, and machine formats contain all explanations.",
  examples: [
    ['svc explain WRN_OPT_OUT', 'a result code'],
    ['svc explain update_existing', 'the value of a tenant setting'],
    ['svc explain 10', 'an exit code, and whatever else has this code'],
    ["svc explain 'exit codes'", 'all of one kind'],
    ['svc explain --html words.html', 'everything as one page'],
  ],
  anySettings: true,
  paged: true,
  fields: meaningView.fields,
  parameters: {
    word: suggesting(
      async () => {
        const { EVERY_MEANING } = await import('../../cli/glossary/every-meaning.ts');
        return EVERY_MEANING.map(({ name, kind }) => [name, kind]);
      },
      optionalArgument('[word]', 'a value, code, field or limit, or a kind of them', text),
    ),
    html: value('--html <file>', 'also write the explanations as one page', text),
    force: flag('--force', 'replace a file that exists'),
  },
  async run(context, { word, html, force }) {
    if (html === '-') throw new SvcError('usage', '--html takes a file', { hint: 'Give a file name.' });
    const page = html === undefined ? undefined : resolvePath(context, html);
    if (page !== undefined) await requireFile(page, force);
    const meanings = await everythingExplained();
    const found = word === undefined ? meanings : meaningsOf(word, meanings, ['explain']);
    if (page === undefined) return showMeanings(context, found, word);
    const [{ glossaryPage }, { writeWhole }] = await Promise.all([
      import('../glossary-page.ts'),
      import('../../base/files/draft.ts'),
    ]);
    await writeWhole(page, force, (draft) => draft.write(glossaryPage(found)));
    if (word === undefined) context.notices.success(`${found.length} explanations are in ${page}`);
    else await showMeanings(context, found, word);
  },
});

/** Returns the meanings of the glossary, and of the request fields that the schema of an authentication describes. */
async function everythingExplained(): Promise<readonly Meaning[]> {
  const [{ EVERY_MEANING }, { BODY, fieldsBelow }] = await Promise.all([
    import('../../cli/glossary/every-meaning.ts'),
    import('../../schema/three-ds/fields.ts'),
  ]);
  const fields = fieldsBelow(BODY).map(({ path, description }): Meaning => {
    const means = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
    return { kind: 'field of an authenticate request', name: path, also: [path.replace(/^.*\./, '')], means };
  });
  return [...EVERY_MEANING, ...fields];
}
