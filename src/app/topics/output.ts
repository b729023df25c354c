import { OUTPUT_FORMATS, TIME_STYLES } from '../../config/choices.ts';
import type { Page, Section } from '../help-page.ts';

/** `svc help output` */
export function output(): Page {
  return {
    title: 'Output: data goes to stdout, everything else to stderr',
    sections: [
      {
        title: 'Examples',
        examples: [
          [
            'svc --sandbox logs --fields created_at,operation -o csv --excel-safe',
            'two columns, for a spreadsheet',
          ],
          ['svc --sandbox logs --jq \'select(.operation == "delete") | .message\'', 'what was deleted'],
          [
            "svc --sandbox logs --limit 200 -o json --jq 'group_by(.operation) | map({(.[0].operation): length}) | add'",
            'the whole list at once',
          ],
          ['svc --sandbox tenant usage --plain', 'words and numbers, for a screen reader'],
        ],
      },
      {
        title: `Formats: -o ${OUTPUT_FORMATS.join(', ')}`,
        rows: [
          ['table', 'on a terminal; cut to its width, never an identifier, and not at all in a pipe'],
          ['jsonl', 'an object a line: the default of lists and streams in a pipe or file'],
          [
            'json',
            'one array, an item a line, written as it comes; or one object, the default of a single object in a pipe',
          ],
          ['csv', 'a header and a row each; a nested value is its JSON'],
          ['yaml', 'a sequence, or one document'],
        ],
      },
      {
        title: 'Choosing',
        rows: [
          ['--fields a,b.c', 'columns and their order, in every format; help of a command lists its fields'],
          [
            '--jq expression',
            'jq itself, built in: sees each entry of a list or tail by itself, after --fields; with -o json the whole list as one array, which is then kept in memory. Texts come out bare, anything else as JSON on one line. A mistake in it ends with 2 before anything is sent; one that shows at an entry is told, the others go on, and the exit code is 1.',
          ],
          [
            `--time ${TIME_STYLES.join('|')}`,
            'how a table shows times; other formats have them as they were sent',
          ],
          ['--show-urls', 'upload and download addresses are secrets, and (hidden) without it'],
        ],
      },
      ON_A_TERMINAL,
      FOR_PROGRAMS,
    ],
  };
}

const ON_A_TERMINAL: Section = {
  title: 'On a terminal',
  rows: [
    [
      'pager',
      'long lists go through SVC_PAGER, else PAGER, else less with FRX; not with --no-pager, --plain, in CI or on a dumb terminal, and never a tail or a wait',
    ],
    [
      '--plain',
      'a value a line with its name, no drawings, no colour, nothing repainted; so too with SVC_PLAIN=1 or TERM=dumb',
    ],
    ['--color', 'auto, always, never; NO_COLOR takes the colour away, and the words say the same'],
  ],
};

const FOR_PROGRAMS: Section = {
  title: 'For programs',
  text: "What is absent is absent, or null. Fields may be added, none is renamed or taken away. An empty list is [], or nothing, with exit code 0. With a machine format an error is one JSON object on stderr: see 'svc help exit-codes'. 'svc commands -o json' tells every command, option and field. A reader that goes away, as head does, ends the command quietly.",
};
