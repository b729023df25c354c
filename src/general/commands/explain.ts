import { SvcError } from '../../base/errors.ts';
import { defineCommand } from '../../cli/app/command.ts';
import { optionalArgument, suggesting } from '../../cli/app/parameter.ts';
import { meaningsOf, meaningView, showMeanings } from '../show-meanings.ts';
import { text } from '../../cli/app/value-parsers.ts';
import { explain as meaningOf, type Meaning } from '../../cli/glossary/glossary.ts';

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
        return EVERY_MEANING.map(({ name, kind }) => [name, kind]);
      },
      optionalArgument('[word]', 'a value, code, field or limit, or a kind of them', text),
    ),
  },
  async run(context, { word }) {
    const meanings = await everythingExplained();
    if (word !== undefined && ID.test(word) && isUnknown(word, meanings))
      throw new SvcError('usage', 'this is an id, or its beginning: only the logs say what happened to an entity', {
        hint: 'To see what the service, or an archive, has about it:',
        next: ['logs', 'history', word],
      });
    const found = word === undefined ? meanings : meaningsOf(word, meanings, ['explain']);
    await showMeanings(context, found, word);
  },
});

/** A UUID, or its beginning as tables show it. */
const ID = /^[0-9a-f]{8}(?:-[0-9a-f-]{0,27})?$/i;

function isUnknown(word: string, meanings: readonly Meaning[]): boolean {
  return meaningOf(word, meanings).length === 0;
}

/** Returns the meanings of the glossary, and of the request fields that the schema of an authentication describes. */
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
