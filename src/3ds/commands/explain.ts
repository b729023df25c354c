import { defineCommand } from '../../cli/app/command.ts';
import { meaningsOf, meaningView, showMeanings } from '../../cli/app/explanation.ts';
import { optionalArgument, suggesting } from '../../cli/app/parameter.ts';
import { text } from '../../cli/app/value-parsers.ts';

export const explain = defineCommand({
  description:
    "A code can have several meanings: all are shown. Without a word, all words are listed. Works offline. 'svc explain' knows the words of the other commands too.",
  examples: [
    ['svc 3ds explain attempted', 'a status'],
    ['svc 3ds explain 01', 'a code, in every meaning that it has'],
    ['svc 3ds explain', 'every status, reason, preference and code'],
  ],
  paged: true,
  fields: meaningView.fields,
  parameters: {
    word: suggesting(
      async () =>
        (await import('../../cli/glossary/three-ds.ts')).THREE_DS_MEANINGS.map(({ name, kind }) => [name, kind]),
      optionalArgument('[status|reason|code]', 'a value of a field, or its EMV code', text),
    ),
  },
  async run(context, { word }) {
    const { THREE_DS_MEANINGS: meanings } = await import('../../cli/glossary/three-ds.ts');
    const found = word === undefined ? meanings : meaningsOf(word, meanings, ['3ds', 'explain']);
    await showMeanings(context, found, word);
  },
});
